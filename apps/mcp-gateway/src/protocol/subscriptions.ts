/**
 * `subscriptions/listen` of the 2026-07-28 revision: a client is told which of the resources that it named were written.
 * One stream of the API serves all stories and specs; it goes on by its last id, so that nothing is lost while the API is
 * away. Events of an execution are waited for, since not all of them are activity. What goes over the wire is the SDK's.
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

/** The activity as far as the caller may see it; throws what the API refuses. */
export type Follow = (
  options: FollowActivityOptions & { readonly onOpen: () => void; readonly onRetry: (why: Error) => void },
) => AsyncIterable<Streamed>;

export interface Listening {
  readonly message: JSONRPCRequest;
  readonly headers: IncomingHttpHeaders;
  readonly view: View;
  readonly follow: Follow;
  /** Calls of the API for as long as the client stays. */
  readonly calls: (left: AbortSignal) => Transport;
  /** Takes over the answer. */
  readonly begin: () => ServerResponse;
  /** Ends it: its client has left, or the gateway stops. */
  readonly signal: AbortSignal;
}

/** A client that takes nothing for so long is gone. */
const unreadMillis = 30_000;
/** A choice that a client shows, not a copy of the board. */
const mostResources = 200;

const specKinds: ReadonlySet<string> = new Set(['spec.updated', 'spec.restored']);

/** The resources of a story's id or key that an event is about. */
function isAbout(uri: string, { kind, subject }: Event): boolean {
  if (subject.type !== 'story') return false;
  const ofSpec = variableIn(specUri, uri);
  if (ofSpec !== undefined && !specKinds.has(kind)) return false;
  const ref = (ofSpec ?? variableIn(storyUri, uri))?.toLowerCase();
  return ref !== undefined && (ref === subject.id || ref === subject.key?.toLowerCase());
}

/** Those of the named resources that a connection can read and that the activity tells of. */
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

/** With nothing but the resources that are honored, where it names any that are text. */
function narrowed(message: JSONRPCRequest, honored: readonly string[]): JSONRPCRequest {
  const { notifications, ...others } = (message.params ?? {}) as {
    readonly notifications?: { readonly resourceSubscriptions?: unknown };
  };
  const named = notifications?.resourceSubscriptions;
  if (!Array.isArray(named) || !named.every((uri) => typeof uri === 'string')) return message;
  const params = { ...others, notifications: { ...notifications, resourceSubscriptions: [...honored] } };
  return { ...message, params };
}

/** Begins once the API has its stream, and then lasts as long as client, token and gateway do. */
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
    // From here on: what happens before the client has heard so is told too.
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
      // While its client takes nothing no more is read for it.
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
      // Nothing is told any more, such as when the token has ended: the protocol has a result that says so.
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

/** The stream, once the API has answered. What begins by failing throws; what fails later is tried again. */
async function openAt(follow: Follow, signal: AbortSignal): Promise<AsyncIterable<Streamed>> {
  const opened = Promise.withResolvers<undefined>();
  const told = follow({
    ...{ signal, onOpen: () => opened.resolve(undefined), onRetry: opened.reject },
  })[Symbol.asyncIterator]();
  // It connects when it is first asked for something.
  const first = told.next();
  await Promise.race([opened.promise, first]);
  return {
    [Symbol.asyncIterator]: async function* () {
      for (let next = await first; next.done !== true; next = await told.next()) yield next.value;
    },
  };
}
