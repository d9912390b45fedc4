/**
 * Offers the organization's prompts as MCP prompts. Their names are `org.<slug>`, and `project.<slug>` for a
 * project's prompts. A connection that is not restricted to a project passes the project as an argument.
 */
import { type Client } from '@muster/client';
import { type Prompt } from '@muster/contract';
import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { findSimilarNames } from '@muster/http';
import { isNarrowedError } from '../calls/calls.ts';
import { offerPlanPrompt, planPromptName, renderPlanPrompt } from './plan-prompt.ts';
import { createSessionClient, type McpSession } from './session.ts';

/**
 * The number of projects searched for prompts if none is named. A caller with more projects names one or
 * restricts the connection to it.
 */
const maxSearchedProjects = 20;

type McpPrompt = ListPromptsResult['prompts'][number];

/** A prompt with the projects that offer it. */
export interface OfferedPrompt {
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

const listParameters = ({ slug }: PromptFilter) => ({
  limit: 200,
  includeBody: false,
  ...(slug !== undefined && { slug }),
});

const fetchProjectPrompts = (client: Client, projectId: string, filter: PromptFilter): Promise<Prompt[]> =>
  Array.fromAsync(client.prompts.project.list.all({ projectId, ...listParameters(filter) }));

async function findProjectPrompts(client: Client, filter: PromptFilter): Promise<OfferedPrompt[]> {
  const { projectsLike = '' } = filter;
  const { items: projects } = await client.projects.list({
    limit: maxSearchedProjects,
    ...(projectsLike !== '' && { query: projectsLike }),
  });
  const lists = await Promise.all(
    projects.map(async ({ key }) => ({
      key,
      prompts: await fetchProjectPrompts(client, key, filter),
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
const emptyIfForbidden = <Item>(items: Promise<Item[]>): Promise<Item[]> =>
  items.catch((failure: unknown) => {
    if (isNarrowedError(failure)) return [];
    throw failure;
  });

/** Lists the prompts that the caller may use, without their text. */
export async function findOfferedPrompts(
  session: McpSession,
  filter: PromptFilter = {},
): Promise<OfferedPrompt[]> {
  const client = createSessionClient(session);
  const { scope } = filter;
  const project = session.view.project ?? filter.project;
  const ofOrg = () => Array.fromAsync(client.prompts.org.list.all(listParameters(filter)));
  const ofProjects = async (): Promise<OfferedPrompt[]> =>
    project === undefined
      ? findProjectPrompts(client, filter)
      : (await fetchProjectPrompts(client, project, filter)).map((prompt) => ({
          ...{ name: `project.${prompt.slug}`, prompt, projects: null },
        }));
  const [org, projects] = await Promise.all([
    scope === 'project' ? [] : emptyIfForbidden(ofOrg()),
    scope === 'org' ? [] : emptyIfForbidden(ofProjects()),
  ]);
  return [
    ...org.map((prompt) => ({ name: `org.${prompt.slug}`, prompt, projects: null })),
    ...projects.toSorted((a, b) => a.name.localeCompare(b.name)),
  ];
}

function toMcpPrompt({ name, prompt, projects }: OfferedPrompt): McpPrompt {
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
              description: `The project to use the prompt for, one of: ${projects.slice(0, 10).join(', ')}`,
              required: projects.length > 1,
            },
          ],
  };
}

export async function listPrompts(session: McpSession): Promise<ListPromptsResult> {
  const stored = (await findOfferedPrompts(session)).map(toMcpPrompt);
  const planPrompt = offerPlanPrompt(session);
  return { prompts: planPrompt === undefined ? stored : [...stored, planPrompt] };
}

const invalidParamsError = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

async function unknownPromptError(name: string, session: McpSession): Promise<ProtocolError> {
  const { prompts } = await listPrompts(session);
  const near = findSimilarNames(
    name,
    prompts.map((one) => one.name),
  );
  const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return invalidParamsError(`There is no prompt "${name.slice(0, 100)}".${hint}`);
}

/** Replaces each `{{name}}` with its argument. */
const renderPrompt = (body: string, values: Readonly<Record<string, string>>): string =>
  body.replaceAll(/\{\{\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
  );

async function getPlanPrompt(
  values: Readonly<Record<string, string>>,
  session: McpSession,
): Promise<GetPromptResult> {
  const offered = offerPlanPrompt(session);
  if (offered === undefined) throw await unknownPromptError(planPromptName, session);
  requireArguments(
    (offered.arguments ?? []).map(({ name: argument }) => argument),
    values,
  );
  const text = renderPlanPrompt(values['goal'] ?? '', session.view.project ?? values[projectArgument] ?? '');
  return {
    ...(offered.description !== undefined && { description: offered.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function requireArguments(names: readonly string[], values: Readonly<Record<string, string>>): void {
  const missing = names.filter((name) => !values[name]);
  if (missing.length > 0) throw invalidParamsError(`The prompt needs ${missing.join(', ')}.`);
}

export async function getPrompt(
  name: string,
  values: Readonly<Record<string, string>>,
  session: McpSession,
): Promise<GetPromptResult> {
  if (name === planPromptName) return getPlanPrompt(values, session);
  const client = createSessionClient(session);
  const [, scope, slug] = /^(org|project)\.([a-z0-9-]{1,64})$/.exec(name) ?? [];
  if (slug === undefined || (scope !== 'org' && scope !== 'project'))
    throw await unknownPromptError(name, session);
  const project = scope === 'project' ? values[projectArgument] : undefined;
  const found = (await findOfferedPrompts(session, { scope, slug, project })).find(
    (one) => one.name === name,
  );
  if (found === undefined) throw await unknownPromptError(name, session);
  const required = found.prompt.arguments.filter((argument) => argument.required);
  requireArguments(
    required.map((argument) => argument.name),
    values,
  );
  const projectId = session.view.project ?? values[projectArgument] ?? found.projects?.[0];
  if (found.projects !== null && found.projects.length > 1 && values[projectArgument] === undefined)
    throw invalidParamsError(
      `Several projects have this prompt; choose one with ${projectArgument}: ${found.projects.join(', ')}.`,
    );
  const { items } =
    scope === 'org' || projectId === undefined
      ? await client.prompts.org.list({ slug })
      : await client.prompts.project.list({ projectId, slug });
  const [prompt] = items;
  if (prompt === undefined) throw await unknownPromptError(name, session);
  // An omitted optional argument becomes an empty text rather than braces.
  const given = { ...Object.fromEntries(prompt.arguments.map((argument) => [argument.name, ''])), ...values };
  return {
    description: prompt.title,
    messages: [{ role: 'user', content: { type: 'text', text: renderPrompt(prompt.body ?? '', given) } }],
  };
}
