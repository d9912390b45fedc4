/**
 * `subscriptions/listen` of the 2026-07-28 revision: notifies a client when one of the resources that it
 * named was written. One activity stream of the API serves all stories and specs. It resumes after its last
 * id, so that no event is lost while the API is unavailable. Executions and the inbox are watched with long
 * polls. The SDK writes the wire format.
 */
import { type FollowActivityOptions, MusterError, type Streamed, type Transport } from '@muster/client';
import { type Event } from '@muster/contract';
import { createMcpHandler, InMemoryServerEventBus, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  executionIdOf,
  isPolledResource,
  maxWatchedExecutions,
  type ReportChanges,
  watchResource,
} from './resource-watch.ts';
import { readableUris } from './resources.ts';
import { createSubscriptionServer } from './server.ts';
import { type ConnectionView } from '../http/narrowing.ts';
import { inboxUri, specUri, storyUri, extractVariable } from './uris.ts';

/** Follows the activity that the caller may see. Throws the API's errors. */
export type FollowActivity = (
  options: FollowActivityOptions & { readonly onOpen: () => void; readonly onRetry: (why: Error) => void },
) => AsyncIterable<Streamed>;

export interface SubscriptionOptions {
  readonly message: JSONRPCRequest;
  readonly headers: IncomingHttpHeaders;
  readonly view: ConnectionView;
  readonly follow: FollowActivity;
  /** Creates a transport whose calls end when the client disconnects. */
  readonly createTransport: (left: AbortSignal) => Transport;
  /** Takes over the response, so that the caller of this function writes it. */
  readonly takeOverResponse: () => ServerResponse;
  /** Ends the subscription: the client has disconnected, or the gateway stops. */
  readonly signal: AbortSignal;
}

/** A client that reads nothing for this long counts as disconnected. */
const drainTimeoutMillis = 30_000;
/** Limit of subscribed resources, enough for what a client displays but not for a copy of the board. */
const maxSubscribedResources = 200;

const specEventKinds: ReadonlySet<string> = new Set(['spec.updated', 'spec.restored']);

/** Returns true if the event is about the story or spec with this URI. The URI contains an id or a key. */
function isEventAbout(uri: string, { kind, subject }: Event): boolean {
  if (subject.type !== 'story') return false;
  const ofSpec = extractVariable(specUri, uri);
  if (ofSpec !== undefined && !specEventKinds.has(kind)) return false;
  const ref = (ofSpec ?? extractVariable(storyUri, uri))?.toLowerCase();
  return ref !== undefined && (ref === subject.id || ref === subject.key?.toLowerCase());
}

/**
 * Returns those of the requested resources that the connection may read and whose changes can be observed.
 */
function acceptedResourcesOf({ params }: JSONRPCRequest, view: ConnectionView): string[] {
  const { notifications } = (params ?? {}) as { notifications?: { resourceSubscriptions?: unknown } };
  const named: unknown = notifications?.resourceSubscriptions;
  if (!Array.isArray(named)) return [];
  const readable = readableUris(view);
  const fits = (uri: unknown): uri is string =>
    typeof uri === 'string' &&
    readable.some((known) =>
      known === inboxUri ? uri === known : extractVariable(known, uri) !== undefined,
    );
  let executions = 0;
  return [...new Set(named.filter(fits))]
    .filter((uri) => executionIdOf(uri) === undefined || (executions += 1) <= maxWatchedExecutions)
    .slice(0, maxSubscribedResources);
}

/** Returns the message with only the accepted resources, if it contains a valid list of them. */
function withAcceptedResources(message: JSONRPCRequest, acceptedUris: readonly string[]): JSONRPCRequest {
  const { notifications, ...others } = (message.params ?? {}) as {
    readonly notifications?: { readonly resourceSubscriptions?: unknown };
  };
  const named = notifications?.resourceSubscriptions;
  if (!Array.isArray(named) || !named.every((uri) => typeof uri === 'string')) return message;
  const params = { ...others, notifications: { ...notifications, resourceSubscriptions: [...acceptedUris] } };
  return { ...message, params };
}

/** Starts once the API's stream is open, and runs until the client, the token or the gateway ends it. */
export async function runSubscription({
  message,
  headers,
  view,
  follow,
  createTransport,
  takeOverResponse,
  signal,
}: SubscriptionOptions): Promise<void> {
  const uris = acceptedResourcesOf(message, view);
  const bus = new InMemoryServerEventBus();
  const handler = createMcpHandler(createSubscriptionServer, { bus, legacy: 'reject' });
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  try {
    const polled = uris.filter(isPolledResource);
    const others = uris.filter((uri) => !isPolledResource(uri));
    const told = others.length === 0 ? undefined : await openActivityStream(follow, until);
    // Start to watch before the client gets its response, so that no later event is lost.
    const watches = await Promise.all(polled.map((uri) => watchResource(uri, createTransport(until), until)));
    const asked = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream' });
    for (const name of ['mcp-protocol-version', 'mcp-method']) {
      const value = headers[name];
      if (typeof value === 'string') asked.set(name, value);
    }
    const request = new Request('http://gateway.invalid/api/mcp', { method: 'POST', headers: asked, signal });
    const answer = await handler.fetch(request, { parsedBody: withAcceptedResources(message, uris) });
    const out = takeOverResponse();
    const { connection: _, ...sent } = Object.fromEntries(answer.headers);
    out.writeHead(answer.status, sent);
    const { body } = answer;
    const sending = body === null ? undefined : pipeline(Readable.fromWeb(body), out, { signal });
    sending?.catch(() => undefined);
    const publish = async (updated: readonly string[]) => {
      for (const uri of updated) bus.publish({ kind: 'resource_updated', uri });
      // Stop reading events while the client does not read.
      if (out.writableNeedDrain)
        await once(out, 'drain', {
          signal: AbortSignal.any([until, AbortSignal.timeout(drainTimeoutMillis)]),
        });
    };
    const relay = async () => {
      for await (const one of told ?? []) await publish(others.filter((uri) => concernsResource(uri, one)));
    };
    try {
      await Promise.all([
        relay(),
        ...watches.map((watch: ReportChanges | undefined) => watch?.((uri) => publish([uri]))),
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

const concernsResource = (uri: string, streamed: Streamed): boolean =>
  streamed.type === 'resync' || (streamed.type === 'event' && isEventAbout(uri, streamed.event));

/**
 * Opens the stream and waits for the API's response. Throws if the first attempt fails; later failures are
 * retried.
 */
export async function openActivityStream(
  follow: FollowActivity,
  signal: AbortSignal,
): Promise<AsyncIterable<Streamed>> {
  const opened = Promise.withResolvers<undefined>();
  const told = follow({
    ...{ signal, onOpen: () => opened.resolve(undefined), onRetry: opened.reject },
  })[Symbol.asyncIterator]();
  // Close the connection also if nobody requests a further item.
  signal.addEventListener('abort', () => void told.return?.(undefined), { once: true });
  // The stream connects when its first item is requested.
  const first = told.next();
  await Promise.race([opened.promise, first]);
  return {
    [Symbol.asyncIterator]: async function* () {
      for (let next = await first; next.done !== true; next = await told.next()) yield next.value;
    },
  };
}
