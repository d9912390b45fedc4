/** The resources of the server: the inbox, a story, its spec as Markdown, and the events of an execution. */
import { type Client, MusterError } from '@muster/client';
import { type InboxItem, maxPageSize, type Operation } from '@muster/contract';
import { registry } from '@muster/registry';
import {
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { isNarrowedError } from '../calls/calls.ts';
import { type ConnectionView } from '../http/narrowing.ts';
import { findInboxEnd } from './resource-watch.ts';
import { createSessionClient, type McpSession } from './session.ts';
import { operationTool } from '../tools/tools.ts';
import { eventsUri, inboxUri, specUri, storyUri, extractVariable } from './uris.ts';

const resourceTemplates: readonly (ResourceTemplateType & { readonly readOperation: Operation })[] = [
  {
    readOperation: registry.stories.get,
    uriTemplate: storyUri,
    name: 'story',
    title: 'A story',
    description: 'A story by its id or key, such as WEB-42',
    mimeType: 'application/json',
  },
  {
    readOperation: registry.storySpec.get,
    uriTemplate: specUri,
    name: 'story-spec',
    title: 'The spec of a story',
    description: 'The full spec, of any length, as Markdown',
    mimeType: 'text/markdown',
  },
  {
    readOperation: registry.deliveryExecutions.eventsSince,
    uriTemplate: eventsUri,
    name: 'execution-events',
    title: 'The events of an execution',
    description:
      'The first 200 events of an execution, in order; deliveryExecutions_eventsSince returns more',
    mimeType: 'application/json',
  },
];

const isReadable = (view: ConnectionView, requiredOperation: Operation): boolean => {
  const tool = operationTool(requiredOperation.name);
  return tool !== undefined && view.allows(tool);
};

/** Lists the templates of the resources that the connection may read. */
export const templatesFor = ({ view }: Pick<McpSession, 'view'>): ResourceTemplateType[] =>
  resourceTemplates
    .filter(({ readOperation: by }) => isReadable(view, by))
    .map(({ readOperation: _, ...template }) => template);

/** The caller's inbox, for the connections that may read it. */
const inboxResources = (view: ConnectionView): Resource[] =>
  isReadable(view, registry.agents.inbox)
    ? [
        {
          uri: inboxUri,
          name: 'inbox',
          title: 'Your inbox',
          description: 'The newest 50 items about your work: verdicts, stops, mentions, answers',
          mimeType: 'application/json',
        },
      ]
    : [];

/** Lists the addresses and templates that the connection may read. */
export const readableUris = (view: ConnectionView): string[] => [
  ...inboxResources(view).map(({ uri }) => uri),
  ...templatesFor({ view }).map(({ uriTemplate }) => uriTemplate),
];

/** Clients offer the list as a menu, so it is kept short. */
const maxListedStories = 50;

/** Lists the open stories of the connection's project; without one, the stories that the caller works on. */
async function findRelevantStories(session: McpSession): Promise<{ key: string; title?: string }[]> {
  const { identity, view } = session;
  const client = createSessionClient(session);
  if (view.project !== null) {
    const { items } = await client.stories.list({
      projectId: view.project,
      status: ['in_progress', 'in_review', 'ready', 'backlog'],
      sort: 'updated',
      limit: maxListedStories,
    });
    return items;
  }
  const { ids } = identity;
  if (ids === null) return [];
  const { agentId, memberId } = ids;
  const { items } = await client.agents.listActive({ limit: 200, ...(agentId !== null && { agentId }) });
  const own = items.filter((run) => run.member.id === memberId && (run.agent?.id ?? null) === agentId);
  return [...new Set(own.flatMap(({ storyKey }) => storyKey ?? []))].map((key) => ({ key }));
}

/** Lists the inbox, and the stories that the caller is likely to need: each story and its spec. */
export async function listResources(session: McpSession): Promise<Resource[]> {
  const stories = await findRelevantStories(session).catch((failure: unknown) => {
    // If the restrictions of a connection forbid the operation that reads a resource, no resources are
    // listed.
    if (isNarrowedError(failure)) return [];
    throw failure;
  });
  const readable = new Set(templatesFor(session).map(({ uriTemplate }) => uriTemplate));
  const ofStories = stories.slice(0, maxListedStories).flatMap(({ key, title }) =>
    [
      { template: storyUri, name: key, mimeType: 'application/json' },
      { template: specUri, name: `${key} spec`, mimeType: 'text/markdown' },
    ]
      .filter(({ template }) => readable.has(template))
      .map(({ template, ...shown }) => ({
        ...shown,
        uri: template.replace('{storyId}', key),
        ...(title !== undefined && { title: `${shown.name}: ${title}` }),
      })),
  );
  return [...inboxResources(session.view), ...ofStories];
}

const maxShownInboxItems = 50;

/** Reads the newest items, and the cursor after them. It starts near the end, because the inbox may be long. */
async function readNewestInboxItems(client: Client): Promise<object> {
  const end = await findInboxEnd(client);
  let newest: InboxItem[] = [];
  for (let after = Math.max(0, end - maxShownInboxItems); ;) {
    const { items, cursor } = await client.agents.inbox({ after, limit: maxPageSize });
    newest = [...newest, ...items].slice(-maxShownInboxItems);
    if (items.length === 0 || cursor >= end) return { items: newest, cursor };
    after = cursor;
  }
}

type ResourceContentList = ReadResourceResult['contents'];

const jsonContents = (uri: string, value: unknown): ResourceContentList => [
  { uri, mimeType: 'application/json', text: JSON.stringify(value) },
];

/** Reads the resource; undefined if it does not exist or the caller may not see it. */
export async function readResource(
  uri: string,
  session: McpSession,
): Promise<ResourceContentList | undefined> {
  const client = createSessionClient(session);
  const ofSpec = extractVariable(specUri, uri);
  const ofStory = extractVariable(storyUri, uri);
  const ofEvents = extractVariable(eventsUri, uri);
  try {
    if (uri === inboxUri) return jsonContents(uri, await readNewestInboxItems(client));
    if (ofSpec !== undefined) {
      const { spec } = await client.storySpec.get({ storyId: ofSpec });
      return [{ uri, mimeType: 'text/markdown', text: spec.content }];
    }
    if (ofStory !== undefined) return jsonContents(uri, await client.stories.get({ storyId: ofStory }));
    if (ofEvents !== undefined)
      return jsonContents(
        uri,
        await client.deliveryExecutions.eventsSince({ executionId: ofEvents, limit: 200 }),
      );
    return undefined;
  } catch (failure) {
    // The API answers 400 for an id in an unknown format. Such a resource does not exist.
    if (failure instanceof MusterError && (failure.status === 404 || failure.status === 400))
      return undefined;
    throw failure;
  }
}
