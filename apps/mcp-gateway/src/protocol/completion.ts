/**
 * Completes arguments of prompts and variables of resource templates from records that the caller can see.
 */
import { type Client, MusterError } from '@muster/client';
import { storyStatuses } from '@muster/contract';
import { findOfferedPrompts, projectArgument } from './prompts.ts';
import { isNarrowedError, isSameRef } from '../calls/calls.ts';
import { createSessionClient, type McpSession } from './session.ts';

interface CompletionRequest {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The protocol's maximum number of completions. */
const maxCompletions = 100;

interface CompletionMatches {
  readonly values: readonly string[];
  /** True if records that were not examined may contain more values. */
  readonly mayHaveMore: boolean;
}

const completeMatches = (values: readonly string[]): CompletionMatches => ({ values, mayHaveMore: false });

const toMatches = <Item>(
  { items, nextCursor }: { readonly items: readonly Item[]; readonly nextCursor: string | null },
  valueOf: (item: Item) => string,
): CompletionMatches => ({ values: items.map(valueOf), mayHaveMore: nextCursor !== null });

/** Finds project keys. A connection restricted to a project finds only that one. */
async function findProjectKeys(
  client: Client,
  prefix: string,
  onlyProject: string | null,
): Promise<CompletionMatches> {
  const { items, nextCursor } = await client.projects.list({
    limit: 200,
    ...(prefix !== '' && { query: prefix }),
  });
  const fitting = items.filter(
    ({ id, key }) =>
      key.startsWith(prefix.toUpperCase()) &&
      (onlyProject === null || isSameRef(id, onlyProject) || isSameRef(key, onlyProject)),
  );
  return toMatches({ items: fitting, nextCursor }, ({ key }) => key);
}

/**
 * Finds story keys by `WEB`, `WEB-`, `WEB-4`, or by title, such as `log`. Only the first three work without a
 * project.
 */
async function findStoryKeys(
  client: Client,
  value: string,
  project: string | undefined,
  onlyProject: string | null,
): Promise<CompletionMatches> {
  const ofKey = /^([A-Za-z][A-Za-z0-9]{1,9})-[0-9]*$/.exec(value)?.[1];
  const projectId = ofKey ?? project;
  if (projectId === undefined) {
    const { values, mayHaveMore } = await findProjectKeys(client, value, onlyProject);
    return { values: values.map((key) => `${key}-`), mayHaveMore };
  }
  const { items, nextCursor } = await client.stories.list({
    ...{ projectId, sort: 'updated', limit: maxCompletions },
    ...(value !== '' && { query: value }),
  });
  const fitting = items.filter(({ key }) => ofKey === undefined || key.startsWith(value.toUpperCase()));
  return toMatches({ items: fitting, nextCursor }, ({ key }) => key);
}

const findMemberHandles = async (client: Client, value: string): Promise<CompletionMatches> =>
  toMatches(
    await client.members.list({ limit: maxCompletions, ...(value !== '' && { query: value }) }),
    ({ handle }) => handle,
  );

/**
 * Finds values for an argument by its name, because authors of prompts name arguments after what they
 * contain.
 */
async function findMatches(
  { ref, argument, context }: CompletionRequest,
  session: McpSession,
): Promise<CompletionMatches> {
  const client = createSessionClient(session);
  const { name, value } = argument;
  const only = session.view.project;
  const project = only ?? context?.arguments?.[projectArgument];
  if (ref.type === 'ref/prompt' && name === projectArgument) {
    const slug = ref.name.replace(/^project\./, '');
    const having = (await findOfferedPrompts(session, { slug, projectsLike: value })).find(
      (one) => one.name === ref.name,
    )?.projects;
    if (having !== null && having !== undefined)
      return completeMatches(having.filter((key) => key.startsWith(value.toUpperCase())));
  }
  if (/project/i.test(name)) return findProjectKeys(client, value, only);
  if (/stor(y|ies)/i.test(name)) return findStoryKeys(client, value, project, only);
  if (/member|assignee|reviewer|handle/i.test(name)) return findMemberHandles(client, value);
  if (/status/i.test(name))
    return completeMatches(storyStatuses.filter((status) => status.startsWith(value)));
  return completeMatches([]);
}

/**
 * Returns true if the failure means "no matches": incomplete text may be invalid, and the connection may not
 * reach the record.
 */
const meansNoMatches = (failure: unknown): boolean =>
  isNarrowedError(failure) ||
  (failure instanceof MusterError && (failure.status === 400 || failure.status === 404));

export async function completeArgument(request: CompletionRequest, session: McpSession) {
  const { values, mayHaveMore } = await findMatches(request, session).catch((failure: unknown) => {
    if (meansNoMatches(failure)) return completeMatches([]);
    throw failure;
  });
  return {
    values: values.slice(0, maxCompletions),
    ...(!mayHaveMore && { total: values.length }),
    hasMore: mayHaveMore || values.length > maxCompletions,
  };
}
