/**
 * Completes arguments of prompts and variables of resource templates from records that the caller can see.
 */
import { type Client, MusterError } from '@muster/client';
import { storyStatuses } from '@muster/registry';
import { offered, projectArgument } from './prompts.ts';
import { isOutside, isSameRef } from '../calls/calls.ts';
import { clientOf, type McpSession } from './session.ts';

interface Asked {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The protocol's maximum number of completions. */
const most = 100;

interface Found {
  readonly values: readonly string[];
  /** True if records that were not examined may contain more values. */
  readonly goesOn: boolean;
}

const allOf = (values: readonly string[]): Found => ({ values, goesOn: false });

const foundIn = <Item>(
  { items, nextCursor }: { readonly items: readonly Item[]; readonly nextCursor: string | null },
  valueOf: (item: Item) => string,
): Found => ({ values: items.map(valueOf), goesOn: nextCursor !== null });

/** Finds project keys. A connection restricted to a project finds only that one. */
async function projectKeys(client: Client, value: string, only: string | null): Promise<Found> {
  const { items, nextCursor } = await client.projects.list({
    limit: 200,
    ...(value !== '' && { query: value }),
  });
  const fitting = items.filter(
    ({ id, key }) =>
      key.startsWith(value.toUpperCase()) && (only === null || isSameRef(id, only) || isSameRef(key, only)),
  );
  return foundIn({ items: fitting, nextCursor }, ({ key }) => key);
}

/**
 * Finds story keys by `WEB`, `WEB-`, `WEB-4`, or by title, such as `log`. Only the first three work without a
 * project.
 */
async function storyKeys(
  client: Client,
  value: string,
  project: string | undefined,
  only: string | null,
): Promise<Found> {
  const ofKey = /^([A-Za-z][A-Za-z0-9]{1,9})-[0-9]*$/.exec(value)?.[1];
  const projectId = ofKey ?? project;
  if (projectId === undefined) {
    const { values, goesOn } = await projectKeys(client, value, only);
    return { values: values.map((key) => `${key}-`), goesOn };
  }
  const { items, nextCursor } = await client.stories.list({
    ...{ projectId, sort: 'updated', limit: most },
    ...(value !== '' && { query: value }),
  });
  const fitting = items.filter(({ key }) => ofKey === undefined || key.startsWith(value.toUpperCase()));
  return foundIn({ items: fitting, nextCursor }, ({ key }) => key);
}

const memberHandles = async (client: Client, value: string): Promise<Found> =>
  foundIn(
    await client.members.list({ limit: most, ...(value !== '' && { query: value }) }),
    ({ handle }) => handle,
  );

/**
 * Finds values for an argument by its name, because authors of prompts name arguments after what they
 * contain.
 */
async function candidates({ ref, argument, context }: Asked, session: McpSession): Promise<Found> {
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
      return allOf(having.filter((key) => key.startsWith(value.toUpperCase())));
  }
  if (/project/i.test(name)) return projectKeys(client, value, only);
  if (/stor(y|ies)/i.test(name)) return storyKeys(client, value, project, only);
  if (/member|assignee|reviewer|handle/i.test(name)) return memberHandles(client, value);
  if (/status/i.test(name)) return allOf(storyStatuses.filter((status) => status.startsWith(value)));
  return allOf([]);
}

/**
 * Returns true if the failure means "no matches": incomplete text may be invalid, and the connection may not
 * reach the record.
 */
const findsNothing = (failure: unknown): boolean =>
  isOutside(failure) ||
  (failure instanceof MusterError && (failure.status === 400 || failure.status === 404));

export async function complete(asked: Asked, session: McpSession) {
  const { values, goesOn } = await candidates(asked, session).catch((failure: unknown) => {
    if (findsNothing(failure)) return allOf([]);
    throw failure;
  });
  return {
    values: values.slice(0, most),
    ...(!goesOn && { total: values.length }),
    hasMore: goesOn || values.length > most,
  };
}
