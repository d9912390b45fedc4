/**
 * `GET /api/events/stream`: the results of events.list as Server-Sent Events, the member's notifications, and
 * on request the inbox for work. Each page is read by a separate call, so the stream shows only what its
 * caller may see at that moment. The stream ends when the caller loses access.
 */
import { once } from 'node:events';
import { type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { type Pool } from '@muster/driver';
import { ApiError, badRequest, type Event, internalError, maxPageSize, refusal } from '@muster/contract';
import { registry } from '@muster/registry';
import {
  type AuthenticatedToken,
  type HandlerEnvironment,
  execute,
  type Handler,
  toApiError,
} from '@muster/runtime';
import { type Service, userAgentOf } from '@muster/http';
import { type Followers } from '@muster/tenancy';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticate } from './authenticate.ts';
import { type CallLimits } from './limits.ts';
import { type WaitForEvents } from './operationRoutes.ts';
import { createPersonalEvents } from './personalEvents.ts';
import { openWorkInbox, type StreamFeed } from './workInbox.ts';
import { createStreamLimiter, type StreamSlot } from './newestStreams.ts';

export interface EventStreamOptions {
  readonly pool: Pool;
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly environment: HandlerEnvironment;
  readonly wait: WaitForEvents;
  readonly followInbox: Followers['followInbox'];
  readonly aside: Service['waitWithoutSlot'];
  readonly releaseSlot: Service['releaseSlot'];
}

/**
 * Interval at which a stream without events sends its current position, so that a reconnecting caller resumes
 * near it.
 */
const idlePositionSeconds = 15;
/** A client that reads nothing for this long counts as disconnected. */
const maxUnreadMillis = 30_000;
/**
 * Range of the reconnect delay after a shutdown. The delay is random, so that clients do not all reconnect at
 * the same time.
 */
const reconnectDelayRangeMillis = { least: 500, most: 2_500 };
/** Reconnect delay for a browser whose stream was replaced, unless its page closes the stream. */
const replacedRetryMillis = 60_000;

/** A page of events.list, as the pipeline returned it. */
interface EventPage {
  readonly items: readonly Event[];
  readonly cursor: string;
}

interface StreamQuery {
  /** Parameters for events.list. */
  readonly params: Record<string, unknown>;
  readonly isPersonal: boolean;
  /** The number after which items of agents.inbox are sent; undefined if they are not requested. */
  readonly inboxAfter: number | undefined;
}

function parseInboxAfter(text: string | string[] | undefined): number | undefined {
  if (text === undefined) return undefined;
  const after = registry.agents.inbox.params.shape.after.safeParse(text === '' ? NaN : Number(text));
  if (after.success && after.data !== undefined) return after.data;
  throw badRequest('The parameter inboxAfter is invalid.', [
    { path: 'inboxAfter', message: 'must be the seq of an item, or 0 for all items' },
  ]);
}

/**
 * Parses the query: `kinds` as a comma-separated list or several times; `personal=false` excludes
 * notifications; `inboxAfter` adds the inbox for work.
 */
function parseStreamQuery({ query, headers }: FastifyRequest): StreamQuery {
  // A session's organization was already read by the authentication.
  const {
    after = 'latest',
    kinds,
    personal,
    inboxAfter,
    organization: _,
    ...others
  } = query as Record<string, string | string[]>;
  if (personal !== undefined && personal !== 'true' && personal !== 'false')
    throw badRequest('The parameter personal is invalid.', [
      { path: 'personal', message: 'must be true or false' },
    ]);
  const last = headers['last-event-id'];
  const params = {
    ...{ limit: maxPageSize, waitSeconds: idlePositionSeconds, ...others },
    ...(kinds !== undefined && { kinds: [kinds].flat().flatMap((text) => text.split(',')) }),
    after: last === undefined || last === '' ? after : last,
  };
  return { params, isPersonal: personal !== 'false', inboxAfter: parseInboxAfter(inboxAfter) };
}

const isResyncError = (error: unknown): boolean =>
  error instanceof ApiError && error.details.reason === 'resync';

/**
 * Formats a page for the stream. For an empty page it sends only an id, which browsers remember without
 * firing an event.
 */
const formatPage = ({ items, cursor }: EventPage): string =>
  items.length === 0
    ? `id: ${cursor}\n\n`
    : items.map(({ cursor: id, ...event }) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** Creates a function that executes a read by its name on behalf of the stream's caller. */
function createReadExecutor(
  { pool, handlers, environment }: EventStreamOptions,
  token: AuthenticatedToken,
  request: FastifyRequest,
) {
  const userAgent = userAgentOf(request);
  return (operation: string, params: unknown) => {
    const handler = handlers.get(operation);
    if (handler === undefined) throw new Error(`${operation} has no handler`);
    const call = { token, params, requestId: request.id, idempotencyKey: null, ip: request.ip, userAgent };
    return execute(pool, handler, call, environment);
  };
}
type ExecuteRead = ReturnType<typeof createReadExecutor>;

/** Reads a page of events. If the page is empty, also returns the stream position to wait for. */
async function readPage(executeRead: ExecuteRead, params: Record<string, unknown>) {
  const { json, waitCondition } = await executeRead(registry.events.list.name, params);
  return { page: JSON.parse(json) as EventPage, awaits: waitCondition };
}
type PageRead = Awaited<ReturnType<typeof readPage>>;

/**
 * Reads the first page. If the caller's position is too old, it starts at the latest event and announces a
 * resync.
 */
async function readFirstPage(
  executeRead: ExecuteRead,
  params: Record<string, unknown>,
): Promise<{ first: PageRead; text: string }> {
  try {
    return { first: await readPage(executeRead, params), text: '' };
  } catch (error) {
    if (!isResyncError(error)) throw error;
    const first = await readPage(executeRead, { ...params, after: 'latest' });
    return { first, text: `event: resync\nid: ${first.page.cursor}\ndata: {}\n\n` };
  }
}

/** Opens the member's notifications for the lifetime of a stream. */
function openNotifications(
  followInbox: EventStreamOptions['followInbox'],
  { identity }: AuthenticatedToken,
  executeRead: ExecuteRead,
): StreamFeed {
  const events = createPersonalEvents(
    async (operation, params) => (await executeRead(operation, params)).json,
  );
  let news = new AbortController();
  const close = followInbox(identity, () => news.abort());
  return {
    close,
    changeSignal: () => news.signal,
    read: async (): Promise<string> => {
      if (!news.signal.aborted) return '';
      news = new AbortController();
      const text = await events.read();
      if (text === null) close();
      return text ?? '';
    },
  };
}

function writeStreamHead(request: FastifyRequest, reply: FastifyReply): ServerResponse {
  reply.hijack();
  return reply.raw.writeHead(200, {
    // Include headers set by hooks: CORS headers and rate limits.
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // A compressing proxy would buffer the response.
    'cache-control': 'no-store, no-transform',
    // The client closes the connection after the stream. On shutdown, the process then does not wait for
    // another request on it.
    connection: 'close',
    // Tell proxies not to buffer events.
    'x-accel-buffering': 'no',
    'x-request-id': request.id,
  });
}

interface StreamState {
  readonly token: AuthenticatedToken;
  readonly request: FastifyRequest;
  readonly response: ServerResponse;
  readonly params: Record<string, unknown>;
  readonly executeRead: ExecuteRead;
  /** Feeds of the caller alone, in addition to the events. */
  readonly feeds: readonly StreamFeed[];
  /** Aborts when the process stops. */
  readonly stopSignal: AbortSignal;
  readonly replaced: StreamSlot['replaced'];
}

/**
 * Writes pages of events and waits after an empty page. Ends when the client disconnects, its access ends, or
 * the process stops.
 */
async function writePages(
  {
    token,
    request,
    response: out,
    params,
    executeRead: ask,
    feeds,
    stopSignal: stopping,
    replaced,
  }: StreamState,
  { wait, aside }: Pick<EventStreamOptions, 'wait' | 'aside'>,
  { first, text: begun }: Awaited<ReturnType<typeof readFirstPage>>,
): Promise<void> {
  let { page, awaits } = first;
  let text = begun;
  // Send the first id immediately, so that a client that disconnects before any event can resume there.
  let quietUntil = 0;
  const isGone = (): boolean => out.destroyed;
  while (!isGone()) {
    // guard: an id comes with events or after quiet
    if (page.items.length > 0 || performance.now() >= quietUntil) {
      text += formatPage(page);
      quietUntil = performance.now() + idlePositionSeconds * 1_000;
    }
    try {
      for (const feed of feeds) text += await feed.read();
      const [said, awaited] = [text, awaits];
      // The request occupies no request slot while it waits for events or for a slow client.
      await aside(request, async (left) => {
        await writeWithTimeout(out, said);
        if (awaited === null) return;
        // A timer may fire up to a millisecond early.
        const seconds = Math.max(0, (quietUntil - performance.now() + 2) / 1_000);
        const signals = [left, stopping, replaced, ...feeds.map(({ changeSignal: news }) => news())];
        await wait(token.identity, { ...awaited, timeoutSeconds: seconds }, AbortSignal.any(signals));
      });
      text = '';
      if (isGone()) return;
      if (replaced.aborted) throw refusal('stream_replaced');
      if (stopping.aborted) {
        await writeWithTimeout(out, `retry: ${randomReconnectDelayMillis()}\n\n`);
        return;
      }
      ({ page, awaits } = await readPage(ask, { ...params, after: page.cursor }));
    } catch (error) {
      const known = toApiError(error);
      const retry = replaced.aborted ? `retry: ${replacedRetryMillis}\n` : '';
      await writeWithTimeout(
        out,
        `${retry}event: end\ndata: ${JSON.stringify(known.toBody(request.id))}\n\n`,
      );
      return;
    }
  }
}

export function addEventStreamRoute(app: FastifyInstance, options: EventStreamOptions): void {
  const { authenticate, limits, followInbox, wait, releaseSlot: leave } = options;
  const takePlace = createStreamLimiter();
  const stop = new AbortController();
  app.addHook('preClose', async () => {
    stop.abort();
  });

  async function stream(token: AuthenticatedToken, request: FastifyRequest, reply: FastifyReply) {
    const { params, isPersonal, inboxAfter } = parseStreamQuery(request);
    const ask = createReadExecutor(options, token, request);
    const begun = await readFirstPage(ask, params);
    if (request.method === 'HEAD') {
      writeStreamHead(request, reply).end();
      return;
    }
    const { replaced, release: leavePlace } = takePlace(token.identity);
    const out = writeStreamHead(request, reply);
    // A client that does not read would never receive the end of the stream, so its connection is cut.
    replaced.addEventListener('abort', () => {
      if (out.writableNeedDrain) out.destroy();
    });
    const feeds = [
      ...(isPersonal ? [openNotifications(followInbox, token, ask)] : []),
      ...(inboxAfter === undefined ? [] : [openWorkInbox(ask, wait, token.identity, inboxAfter)]),
    ];
    try {
      const stopping = stop.signal;
      await writePages(
        { token, request, response: out, params, executeRead: ask, feeds, stopSignal: stopping, replaced },
        options,
        begun,
      );
    } finally {
      for (const feed of feeds) feed.close();
      leavePlace();
    }
    out.end();
  }

  app.get('/api/events/stream', {
    onRequest: async (request, reply) => {
      request.caller = await authenticate(request);
      const admitted = limits.admit(request.caller.identity, reply, false);
      if (admitted !== undefined) await admitted;
    },
    handler: async (request, reply) => {
      if (request.caller === null) throw internalError();
      try {
        await stream(request.caller, request, reply);
      } finally {
        leave(request);
      }
      return reply;
    },
  });
}

const randomReconnectDelayMillis = (): number =>
  Math.round(
    reconnectDelayRangeMillis.least +
      Math.random() * (reconnectDelayRangeMillis.most - reconnectDelayRangeMillis.least),
  );

/** Writes the text and waits for the buffer to drain. Disconnects a client that reads nothing. */
async function writeWithTimeout(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || text === '' || response.write(text)) return;
  const over = new AbortController();
  const { signal } = over;
  const unread = setTimeout(() => over.abort(), maxUnreadMillis);
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } catch {
    response.destroy();
  } finally {
    clearTimeout(unread);
    // Remove the listener of the event that did not occur.
    over.abort();
  }
}
