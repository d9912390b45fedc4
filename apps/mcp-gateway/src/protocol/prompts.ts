/**
 * Offers the organization's prompts as MCP prompts. Their names are `org.<slug>`, and `project.<slug>` for a
 * project's prompts. A connection that is not restricted to a project passes the project as an argument.
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
import { clientOf, type McpSession } from './session.ts';

/**
 * The number of projects searched for prompts if none is named. A caller with more projects names one or
 * restricts the connection to it.
 */
const mostProjects = 20;

type McpPrompt = ListPromptsResult['prompts'][number];

/** A prompt with the projects that offer it. */
export interface Offered {
  readonly name: string;
  readonly prompt: Prompt;
  /** Keys of the projects to choose from; null if the caller need not choose. */
  readonly projects: readonly string[] | null;
}

/** The argument that names the project. A prompt's own argument of that name takes precedence. */
export const projectArgument = 'projectId';

/** A filter of prompts. */
export interface PromptFilter {
  /** Restricts the search to prompts of the organization or of projects. */
  readonly scope?: 'org' | 'project';
  readonly slug?: string;
  /** Restricts the search to this project. */
  readonly project?: string | undefined;
  /** Restricts the search to projects whose key or name contains this text. */
  readonly projectsLike?: string;
}

const listedBy = ({ slug }: PromptFilter) => ({
  limit: 200,
  includeBody: false,
  ...(slug !== undefined && { slug }),
});

const ofProject = (client: Client, projectId: string, wanted: PromptFilter): Promise<Prompt[]> =>
  Array.fromAsync(client.prompts.project.list.all({ projectId, ...listedBy(wanted) }));

async function offeredByProjects(client: Client, wanted: PromptFilter): Promise<Offered[]> {
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

/** Returns no prompts if the connection's restrictions forbid the call. */
const orNone = <Item>(items: Promise<Item[]>): Promise<Item[]> =>
  items.catch((failure: unknown) => {
    if (isOutside(failure)) return [];
    throw failure;
  });

/** Lists the prompts that the caller may use, without their text. */
export async function offered(session: McpSession, wanted: PromptFilter = {}): Promise<Offered[]> {
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
    // MCP prompts of Muster have no separate description. Use the title, because clients show the description
    // in their menus.
    description: prompt.title,
    arguments:
      projects === null
        ? own
        : [
            ...own.filter((argument) => argument.name !== projectArgument),
            {
              name: projectArgument,
              description: `The project of the prompt: ${projects.slice(0, 10).join(', ')}`,
              required: projects.length > 1,
            },
          ],
  };
}

export const listPrompts = async (session: McpSession): Promise<ListPromptsResult> => ({
  prompts: (await offered(session)).map(toMcp),
});

const refuse = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

async function unknownPrompt(name: string, session: McpSession): Promise<ProtocolError> {
  const near = closestTo(
    name,
    (await offered(session)).map((one) => one.name),
  );
  const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return refuse(`There is no prompt "${name.slice(0, 100)}".${hint}`);
}

/** Replaces each `{{name}}` with its argument. */
const render = (body: string, values: Readonly<Record<string, string>>): string =>
  body.replaceAll(/\{\{\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
  );

export async function getPrompt(
  name: string,
  values: Readonly<Record<string, string>>,
  session: McpSession,
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
      `Several projects have this prompt; choose one with ${projectArgument}: ${found.projects.join(', ')}.`,
    );
  const { items } =
    scope === 'org' || projectId === undefined
      ? await client.prompts.org.list({ slug })
      : await client.prompts.project.list({ projectId, slug });
  const [prompt] = items;
  if (prompt === undefined) throw await unknownPrompt(name, session);
  // An omitted optional argument becomes an empty text rather than braces.
  const given = { ...Object.fromEntries(prompt.arguments.map((argument) => [argument.name, ''])), ...values };
  return {
    description: prompt.title,
    messages: [{ role: 'user', content: { type: 'text', text: render(prompt.body ?? '', given) } }],
  };
}
