/** Completion of the arguments of prompts and of the variables of resource templates, from what the caller can see. */
import { type Client } from '@muster/client';
import { storyStatuses } from '@muster/registry';
import { offered, projectArgument } from './prompts.ts';
import { isOutside, isSameRef } from './calls.ts';
import { clientOf, type Session } from './session.ts';

interface Asked {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The protocol allows no more. */
const most = 100;

/** Of the one project of the connection, or of all that the caller sees. */
async function projectKeys(client: Client, value: string, only: string | null): Promise<string[]> {
  const { items } = await client.projects.list({ limit: 200, ...(value !== '' && { query: value }) });
  return items
    .filter(({ id, key }) => only === null || isSameRef(id, only) || isSameRef(key, only))
    .map(({ key }) => key)
    .filter((key) => key.startsWith(value.toUpperCase()));
}

/** `WEB`, `WEB-`, `WEB-4` and `log` in a project all find stories; without a project there is none to look in. */
async function storyKeys(
  client: Client,
  value: string,
  project: string | undefined,
  only: string | null,
): Promise<string[]> {
  const [, ofKey, number] = /^([A-Za-z][A-Za-z0-9]{1,9})-([0-9]*)$/.exec(value) ?? [];
  const projectId = ofKey ?? project;
  if (projectId === undefined) return (await projectKeys(client, value, only)).map((key) => `${key}-`);
  const { items } = await client.stories.list({
    projectId,
    sort: 'updated',
    limit: most,
    ...(number === undefined && value !== '' && { query: value }),
  });
  return items
    .map(({ key }) => key)
    .filter((key) => number === undefined || key.endsWith(`-${number}`) || key.includes(`-${number}`));
}

async function memberHandles(client: Client, value: string): Promise<string[]> {
  const { items } = await client.members.list({ limit: most, ...(value !== '' && { query: value }) });
  return items.map(({ handle }) => handle);
}

/** What an argument wants, by its name: people who write prompts call them by what they are. */
async function candidates({ ref, argument, context }: Asked, session: Session): Promise<readonly string[]> {
  const client = clientOf(session);
  const { name, value } = argument;
  const only = session.view.project;
  const project = only ?? context?.arguments?.[projectArgument];
  if (ref.type === 'ref/prompt' && name === projectArgument) {
    const slug = ref.name.replace(/^project\./, '');
    const having = (await offered(session, { slug, projectsLike: value })).find(
      (one) => one.name === ref.name,
    )?.projects;
    if (having !== null && having !== undefined)
      return having.filter((key) => key.startsWith(value.toUpperCase()));
  }
  if (/project/i.test(name)) return projectKeys(client, value, only);
  if (/stor(y|ies)/i.test(name)) return storyKeys(client, value, project, only);
  if (/member|assignee|reviewer|handle/i.test(name)) return memberHandles(client, value);
  if (/status/i.test(name)) return storyStatuses.filter((status) => status.startsWith(value));
  return [];
}

export async function complete(asked: Asked, session: Session) {
  // Outside of what the connection was narrowed to there is nothing to be found.
  const values = await candidates(asked, session).catch((failure: unknown) => {
    if (isOutside(failure)) return [];
    throw failure;
  });
  return { values: values.slice(0, most), total: values.length, hasMore: values.length > most };
}
