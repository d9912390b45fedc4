/**
 * `subscriptions/listen` of the 2026-07-28 revision: notifies a client when one of the resources that it
 * named was written. One activity stream of the API serves all stories and specs. It resumes after its last
 * id, so that no event is lost while the API is unavailable. Executions are watched with long polls, because
 * not all of their events are activity. The SDK writes the wire format.
 */
import { type FollowActivityOptions, MusterError, type Streamed, type Transport } from '@muster/client';
import { type Event } from '@muster/registry';
import { createMcpHandler, InMemoryServerEventBus, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { executionIn, mostExecutions, type Watch, watchExecution } from './execution-watch.ts';
import { templatesFor } from './resources.ts';
import { subscribableServer } from './server.ts';
import { type View } from '../http/narrowing.ts';
import { eventsUri, specUri, storyUri, variableIn } from './uris.ts';

/** Follows the activity that the caller may see. Throws the API's errors. */
export type Follow = (
  options: FollowActivityOptions & { readonly onOpen: () => void; readonly onRetry: (why: Error) => void },
) => AsyncIterable<Streamed>;

export interface Listening {
  readonly message: JSONRPCRequest;
  readonly headers: IncomingHttpHeaders;
  readonly view: View;
  readonly follow: Follow;
  /** Creates a transport whose calls end when the client disconnects. */
  readonly calls: (left: AbortSignal) => Transport;
  /** Takes over the response, so that the caller of this function writes it. */
  readonly begin: () => ServerResponse;
  /** Ends the subscription: the client has disconnected, or the gateway stops. */
  readonly signal: AbortSignal;
}

/** A client that reads nothing for this long counts as disconnected. */
const unreadMillis = 30_000;
/** Limit of subscribed resources, enough for what a client displays but not for a copy of the board. */
const mostResources = 200;

const specKinds: ReadonlySet<string> = new Set(['spec.updated', 'spec.restored']);

/** Returns true if the event is about the story or spec with this URI. The URI contains an id or a key. */
function isAbout(uri: string, { kind, subject }: Event): boolean {
  if (subject.type !== 'story') return false;
  const ofSpec = variableIn(specUri, uri);
  if (ofSpec !== undefined && !specKinds.has(kind)) return false;
  const ref = (ofSpec ?? variableIn(storyUri, uri))?.toLowerCase();
  return ref !== undefined && (ref === subject.id || ref === subject.key?.toLowerCase());
}

/**
 * Returns those of the requested resources that the connection may read and whose changes can be observed.
 */
function honoredIn({ params }: JSONRPCRequest, view: View): string[] {
  const { notifications } = (params ?? {}) as { notifications?: { resourceSubscriptions?: unknown } };
  const named: unknown = notifications?.resourceSubscriptions;
  if (!Array.isArray(named)) return [];
  const readable = new Set(templatesFor({ view }).map(({ uriTemplate }) => uriTemplate));
  const templates = [specUri, storyUri, eventsUri].filter((template) => readable.has(template));
  const fits = (uri: unknown): uri is string =>
    typeof uri === 'string' && templates.some((template) => variableIn(template, uri) !== undefined);
  let executions = 0;
  return [...new Set(named.filter(fits))]
    .filter((uri) => executionIn(uri) === undefined || (executions += 1) <= mostExecutions)
    .slice(0, mostResources);
}

/** Returns the message with only the accepted resources, if it contains a valid list of them. */
function narrowed(message: JSONRPCRequest, honored: readonly string[]): JSONRPCRequest {
  const { notifications, ...others } = (message.params ?? {}) as {
    readonly notifications?: { readonly resourceSubscriptions?: unknown };
  };
  const named = notifications?.resourceSubscriptions;
  if (!Array.isArray(named) || !named.every((uri) => typeof uri === 'string')) return message;
  const params = { ...others, notifications: { ...notifications, resourceSubscriptions: [...honored] } };
  return { ...message, params };
}

/** Starts once the API's stream is open, and runs until the client, the token or the gateway ends it. */
export async function listen({
  message,
  headers,
  view,
  follow,
  calls,
  begin,
  signal,
}: Listening): Promise<void> {
  const uris = honoredIn(message, view);
  const bus = new InMemoryServerEventBus();
  const handler = createMcpHandler(subscribableServer, { bus, legacy: 'reject' });
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  try {
    const executions = uris.filter((uri) => executionIn(uri) !== undefined);
    const others = uris.filter((uri) => executionIn(uri) === undefined);
    const told = others.length === 0 ? undefined : await openAt(follow, until);
    // Start to watch the executions before the client gets its response, so that no later event is lost.
    const watches = await Promise.all(executions.map((uri) => watchExecution(uri, calls(until), until)));
    const asked = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream' });
    for (const name of ['mcp-protocol-version', 'mcp-method']) {
      const value = headers[name];
      if (typeof value === 'string') asked.set(name, value);
    }
    const request = new Request('http://gateway.invalid/api/mcp', { method: 'POST', headers: asked, signal });
    const answer = await handler.fetch(request, { parsedBody: narrowed(message, uris) });
    const out = begin();
    const { connection: _, ...sent } = Object.fromEntries(answer.headers);
    out.writeHead(answer.status, sent);
    const { body } = answer;
    const sending = body === null ? undefined : pipeline(Readable.fromWeb(body), out, { signal });
    sending?.catch(() => undefined);
    const publish = async (updated: readonly string[]) => {
      for (const uri of updated) bus.publish({ kind: 'resource_updated', uri });
      // Stop reading events while the client does not read.
      if (out.writableNeedDrain)
        await once(out, 'drain', { signal: AbortSignal.any([until, AbortSignal.timeout(unreadMillis)]) });
    };
    const relay = async () => {
      for await (const one of told ?? []) await publish(others.filter((uri) => concerns(uri, one)));
    };
    try {
      await Promise.all([
        relay(),
        ...watches.map((watch: Watch | undefined) => watch?.((uri) => publish([uri]))),
      ]);
      // All streams have ended, for example because the token expired. The protocol has a result for this
      // case.
      await handler.close();
      await sending;
    } catch (failure) {
      if (failure instanceof MusterError) await handler.close();
      else out.destroy();
    }
    if (body === null) out.end();
  } finally {
    over.abort();
    await handler.close();
  }
}

const concerns = (uri: string, told: Streamed): boolean =>
  told.type === 'resync' || (told.type === 'event' && isAbout(uri, told.event));

/**
 * Opens the stream and waits for the API's response. Throws if the first attempt fails; later failures are
 * retried.
 */
async function openAt(follow: Follow, signal: AbortSignal): Promise<AsyncIterable<Streamed>> {
  const opened = Promise.withResolvers<undefined>();
  const told = follow({
    ...{ signal, onOpen: () => opened.resolve(undefined), onRetry: opened.reject },
  })[Symbol.asyncIterator]();
  // The stream connects when its first item is requested.
  const first = told.next();
  await Promise.race([opened.promise, first]);
  return {
    [Symbol.asyncIterator]: async function* () {
      for (let next = await first; next.done !== true; next = await told.next()) yield next.value;
    },
  };
}
