/**
 * The prompts that people keep in Muster, as prompts of MCP: `org.<slug>`, and `project.<slug>` for those of a project.
 * Where the connection is not narrowed to a project, a project's prompt takes the project as an argument.
 */
import { type Client } from '@muster/client';
import { type Prompt } from '@muster/registry';
import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { closestTo } from '@muster/http';
import { isOutside } from '../calls/calls.ts';
import { clientOf, type Session } from './session.ts';

/** Projects whose prompts are looked at when none is named; who has more names one, or narrows the connection to it. */
const mostProjects = 20;

type McpPrompt = ListPromptsResult['prompts'][number];

/** A prompt with the projects that it can be asked of; none for one of the organization. */
export interface Offered {
  readonly name: string;
  readonly prompt: Prompt;
  /** Keys of the projects that have it, where the caller has to say which. */
  readonly projects: readonly string[] | null;
}

/** The argument by which a project is named; a prompt's own of that name goes first. */
export const projectArgument = 'projectId';

/** Which prompts are asked for. */
export interface Wanted {
  /** Of the organization alone, or of projects alone. */
  readonly scope?: 'org' | 'project';
  readonly slug?: string;
  /** Of this project alone. */
  readonly project?: string | undefined;
  /** Of projects whose key or name has this in it. */
  readonly projectsLike?: string;
}

const listedBy = ({ slug }: Wanted) => ({
  limit: 200,
  includeBody: false,
  ...(slug !== undefined && { slug }),
});

const ofProject = (client: Client, projectId: string, wanted: Wanted): Promise<Prompt[]> =>
  Array.fromAsync(client.prompts.project.list.all({ projectId, ...listedBy(wanted) }));

async function offeredByProjects(client: Client, wanted: Wanted): Promise<Offered[]> {
  const { projectsLike = '' } = wanted;
  const { items: projects } = await client.projects.list({
    limit: mostProjects,
    ...(projectsLike !== '' && { query: projectsLike }),
  });
  const lists = await Promise.all(
    projects.map(async ({ key }) => ({
      key,
      prompts: await ofProject(client, key, wanted),
    })),
  );
  const bySlug = Map.groupBy(
    lists.flatMap(({ key, prompts }) => prompts.map((prompt) => ({ key, prompt }))),
    ({ prompt }) => prompt.slug,
  );
  return [...bySlug].flatMap(([own, having]) => {
    const [first] = having;
    return first === undefined
      ? []
      : { name: `project.${own}`, prompt: first.prompt, projects: having.map(({ key }) => key) };
  });
}

/** None where the connection was narrowed to something else. */
const orNone = <Item>(items: Promise<Item[]>): Promise<Item[]> =>
  items.catch((failure: unknown) => {
    if (isOutside(failure)) return [];
    throw failure;
  });

/** The prompts that the caller can get, without their text. */
export async function offered(session: Session, wanted: Wanted = {}): Promise<Offered[]> {
  const client = clientOf(session);
  const { scope } = wanted;
  const project = session.view.project ?? wanted.project;
  const ofOrg = () => Array.fromAsync(client.prompts.org.list.all(listedBy(wanted)));
  const ofProjects = async (): Promise<Offered[]> =>
    project === undefined
      ? offeredByProjects(client, wanted)
      : (await ofProject(client, project, wanted)).map((prompt) => ({
          ...{ name: `project.${prompt.slug}`, prompt, projects: null },
        }));
  const [org, projects] = await Promise.all([
    scope === 'project' ? [] : orNone(ofOrg()),
    scope === 'org' ? [] : orNone(ofProjects()),
  ]);
  return [
    ...org.map((prompt) => ({ name: `org.${prompt.slug}`, prompt, projects: null })),
    ...projects.toSorted((a, b) => a.name.localeCompare(b.name)),
  ];
}

function toMcp({ name, prompt, projects }: Offered): McpPrompt {
  const own = prompt.arguments.map(({ name: argument, description, required }) => ({
    name: argument,
    required,
    ...(description !== '' && { description }),
  }));
  return {
    name,
    title: prompt.title,
    // People give it no other; clients show this one where they choose among prompts.
    description: prompt.title,
    arguments:
      projects === null
        ? own
        : [
            ...own.filter((argument) => argument.name !== projectArgument),
            {
              name: projectArgument,
              description: `The project whose prompt it is: ${projects.slice(0, 10).join(', ')}`,
              required: projects.length > 1,
            },
          ],
  };
}

export const listPrompts = async (session: Session): Promise<ListPromptsResult> => ({
  prompts: (await offered(session)).map(toMcp),
});

const refuse = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

async function unknownPrompt(name: string, session: Session): Promise<ProtocolError> {
  const near = closestTo(
    name,
    (await offered(session)).map((one) => one.name),
  );
  const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return refuse(`There is no prompt "${name.slice(0, 100)}".${hint}`);
}

/** `{{name}}` becomes what was given for it. */
const render = (body: string, values: Readonly<Record<string, string>>): string =>
  body.replaceAll(/\{\{\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
  );

export async function getPrompt(
  name: string,
  values: Readonly<Record<string, string>>,
  session: Session,
): Promise<GetPromptResult> {
  const client = clientOf(session);
  const [, scope, slug] = /^(org|project)\.([a-z0-9-]{1,64})$/.exec(name) ?? [];
  if (slug === undefined || (scope !== 'org' && scope !== 'project'))
    throw await unknownPrompt(name, session);
  const project = scope === 'project' ? values[projectArgument] : undefined;
  const found = (await offered(session, { scope, slug, project })).find((one) => one.name === name);
  if (found === undefined) throw await unknownPrompt(name, session);
  const missing = found.prompt.arguments.filter((argument) => argument.required && !values[argument.name]);
  if (missing.length > 0)
    throw refuse(`The prompt needs ${missing.map((argument) => argument.name).join(', ')}.`);
  const projectId = session.view.project ?? values[projectArgument] ?? found.projects?.[0];
  if (found.projects !== null && found.projects.length > 1 && values[projectArgument] === undefined)
    throw refuse(
      `Several projects have this prompt; say which as ${projectArgument}: ${found.projects.join(', ')}.`,
    );
  const { items } =
    scope === 'org' || projectId === undefined
      ? await client.prompts.org.list({ slug })
      : await client.prompts.project.list({ projectId, slug });
  const [prompt] = items;
  if (prompt === undefined) throw await unknownPrompt(name, session);
  // Optional arguments that were left out are empty, not braces.
  const given = { ...Object.fromEntries(prompt.arguments.map((argument) => [argument.name, ''])), ...values };
  return {
    description: prompt.title,
    messages: [{ role: 'user', content: { type: 'text', text: render(prompt.body ?? '', given) } }],
  };
}
