/**
 * `GET /api/events/stream`: what events.list answers, as Server-Sent Events, and what comes into its member's inbox. Each
 * piece of it is a call by itself, so a stream shows what its caller may see at that moment, and ends with the right to it.
 */
import { once } from 'node:events';
import { type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { type Pool } from '@muster/driver';
import { ApiError, badRequest, type Event, internal, maxLimit, refusal, registry } from '@muster/registry';
import {
  type AuthenticatedToken,
  type Environment,
  execute,
  type Handler,
  toApiError,
} from '@muster/runtime';
import { type Service, userAgentOf } from '@muster/http';
import { type Followers } from '@muster/tenancy';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticate } from './authenticate.ts';
import { type CallLimits } from './limits.ts';
import { type Wait } from './operationRoutes.ts';
import { createPersonalEvents } from './personalEvents.ts';
import { createNewestStreams, type StreamPlace } from './newestStreams.ts';

export interface EventStreamOptions {
  readonly pool: Pool;
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly environment: Environment;
  readonly wait: Wait;
  readonly followInbox: Followers['followInbox'];
  readonly aside: Service['aside'];
  readonly leave: Service['leave'];
}

/** How often a stream without events says where it stands, so that its caller goes on from near there. */
const quietSeconds = 15;
/** A reader that takes nothing for so long is gone. */
const unreadMillis = 30_000;
/** When callers of a process that stops come again: not all at once. */
const comeAgainMillis = { least: 500, most: 2_500 };
/** A browser whose stream was replaced opens it again after this delay, unless its page closes it. */
const replacedRetryMillis = 60_000;

/** What a page of events.list is, as it came out of the pipeline. */
interface Page {
  readonly items: readonly Event[];
  readonly cursor: string;
}

interface Wanted {
  /** Of events.list. */
  readonly params: Record<string, unknown>;
  readonly isPersonal: boolean;
}

/** What a query asks for: `kinds` with commas, or several times; `personal=false` leaves the inbox out. */
function wantedBy({ query, headers }: FastifyRequest): Wanted {
  // The organization is for who comes by a session, and was read where that was let in.
  const {
    after = 'latest',
    kinds,
    personal,
    organization: _,
    ...others
  } = query as Record<string, string | string[]>;
  if (personal !== undefined && personal !== 'true' && personal !== 'false') {
    throw badRequest('personal is neither true nor false.', [
      { path: 'personal', message: 'must be true or false' },
    ]);
  }
  const last = headers['last-event-id'];
  const params = {
    ...{ limit: maxLimit, waitSeconds: quietSeconds, ...others },
    ...(kinds !== undefined && { kinds: [kinds].flat().flatMap((text) => text.split(',')) }),
    after: last === undefined || last === '' ? after : last,
  };
  return { params, isPersonal: personal !== 'false' };
}

const isResync = (error: unknown): boolean => error instanceof ApiError && error.details.reason === 'resync';

/** An id by itself is kept by its reader, who is told of nothing. */
const saidOf = ({ items, cursor }: Page): string =>
  items.length === 0
    ? `id: ${cursor}\n\n`
    : items.map(({ cursor: id, ...event }) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** One read by its name, for the caller of the stream. */
function createAsk(
  { pool, handlers, environment }: EventStreamOptions,
  token: AuthenticatedToken,
  request: FastifyRequest,
) {
  const userAgent = userAgentOf(request);
  return (operation: string, params: unknown) => {
    const handler = handlers.get(operation);
    if (handler === undefined) throw new Error(`there is no handler of ${operation}`);
    const call = { token, params, requestId: request.id, idempotencyKey: null, ip: request.ip, userAgent };
    return execute(pool, handler, call, environment);
  };
}
type Ask = ReturnType<typeof createAsk>;

/** One page, and what to wait for where it is empty. */
async function read(ask: Ask, params: Record<string, unknown>) {
  const { json, awaits } = await ask(registry.events.list.name, params);
  return { page: JSON.parse(json) as Page, awaits };
}
type Read = Awaited<ReturnType<typeof read>>;

/** The first page; where its reader has missed too much, of what is from now on, and what says so. */
async function begin(ask: Ask, params: Record<string, unknown>): Promise<{ first: Read; text: string }> {
  try {
    return { first: await read(ask, params), text: '' };
  } catch (error) {
    if (!isResync(error)) throw error;
    const first = await read(ask, { ...params, after: 'latest' });
    return { first, text: `event: resync\nid: ${first.page.cursor}\ndata: {}\n\n` };
  }
}

/** The member's inbox, for as long as a stream lasts. */
function openInbox(
  followInbox: EventStreamOptions['followInbox'],
  { identity }: AuthenticatedToken,
  ask: Ask,
) {
  const events = createPersonalEvents(async (operation, params) => (await ask(operation, params)).json);
  let news = new AbortController();
  const close = followInbox(identity, () => news.abort());
  return {
    close,
    /** Aborts when there is something to read. */
    news: () => news.signal,
    read: async (): Promise<string> => {
      if (!news.signal.aborted) return '';
      news = new AbortController();
      const text = await events.read();
      if (text === null) close();
      return text ?? '';
    },
  };
}

function writeHead(request: FastifyRequest, reply: FastifyReply): ServerResponse {
  reply.hijack();
  return reply.raw.writeHead(200, {
    // Those of the hooks: which pages of other origins may read it, and what is left of the limits.
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // What compresses answers on the way would gather them first.
    'cache-control': 'no-store, no-transform',
    // A process that stops does not wait for the connection to be used again.
    connection: 'close',
    // A proxy that gathers answers would hold events back.
    'x-accel-buffering': 'no',
    'x-request-id': request.id,
  });
}

interface Stream {
  readonly token: AuthenticatedToken;
  readonly request: FastifyRequest;
  readonly out: ServerResponse;
  readonly params: Record<string, unknown>;
  readonly ask: Ask;
  readonly inbox: ReturnType<typeof openInbox> | null;
  /** The process stops. */
  readonly stopping: AbortSignal;
  readonly replaced: StreamPlace['replaced'];
}

/** Writes page after page, and waits where one is empty, until the reader, the right to it or the process is gone. */
async function goOn(
  { token, request, out, params, ask, inbox, stopping, replaced }: Stream,
  { wait, aside }: Pick<EventStreamOptions, 'wait' | 'aside'>,
  { first, text: begun }: Awaited<ReturnType<typeof begin>>,
): Promise<void> {
  let { page, awaits } = first;
  let text = begun;
  // The first id is said at once: a reader that is cut off before any event goes on from there.
  let quietUntil = 0;
  const isGone = (): boolean => out.destroyed;
  while (!isGone()) {
    // guard: an id comes with events or after quiet
    if (page.items.length > 0 || performance.now() >= quietUntil) {
      text += saidOf(page);
      quietUntil = performance.now() + quietSeconds * 1_000;
    }
    try {
      if (inbox !== null) text += await inbox.read();
      const [said, awaited] = [text, awaits];
      // A slow reader holds no place among the requests that are being answered, nor does one that waits.
      await aside(request, async (left) => {
        await write(out, said);
        if (awaited === null) return;
        // A timer is early by up to a millisecond.
        const seconds = Math.max(0, (quietUntil - performance.now() + 2) / 1_000);
        const signals = [left, stopping, replaced, ...(inbox === null ? [] : [inbox.news()])];
        await wait(token.identity, { ...awaited, seconds }, AbortSignal.any(signals));
      });
      text = '';
      if (isGone()) return;
      if (replaced.aborted) throw refusal('stream_replaced');
      if (stopping.aborted) {
        await write(out, `retry: ${comeAgain()}\n\n`);
        return;
      }
      ({ page, awaits } = await read(ask, { ...params, after: page.cursor }));
    } catch (error) {
      const known = toApiError(error);
      const retry = replaced.aborted ? `retry: ${replacedRetryMillis}\n` : '';
      await write(out, `${retry}event: end\ndata: ${JSON.stringify(known.toBody(request.id))}\n\n`);
      return;
    }
  }
}

export function addEventStream(app: FastifyInstance, options: EventStreamOptions): void {
  const { authenticate, limits, followInbox, leave } = options;
  const takePlace = createNewestStreams();
  const stop = new AbortController();
  app.addHook('preClose', async () => {
    stop.abort();
  });

  async function stream(token: AuthenticatedToken, request: FastifyRequest, reply: FastifyReply) {
    const { params, isPersonal } = wantedBy(request);
    const ask = createAsk(options, token, request);
    const begun = await begin(ask, params);
    if (request.method === 'HEAD') {
      writeHead(request, reply).end();
      return;
    }
    const { replaced, leave: leavePlace } = takePlace(token.identity);
    const out = writeHead(request, reply);
    // A reader that takes nothing would not come to the end.
    replaced.addEventListener('abort', () => {
      if (out.writableNeedDrain) out.destroy();
    });
    const inbox = isPersonal ? openInbox(followInbox, token, ask) : null;
    try {
      const stopping = stop.signal;
      await goOn({ token, request, out, params, ask, inbox, stopping, replaced }, options, begun);
    } finally {
      inbox?.close();
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
      if (request.caller === null) throw internal();
      try {
        await stream(request.caller, request, reply);
      } finally {
        leave(request);
      }
      return reply;
    },
  });
}

const comeAgain = (): number =>
  Math.round(comeAgainMillis.least + Math.random() * (comeAgainMillis.most - comeAgainMillis.least));

/** Returns when there is room for more; a reader who takes nothing is cut off. */
async function write(out: ServerResponse, text: string): Promise<void> {
  if (out.destroyed || text === '' || out.write(text)) return;
  const over = new AbortController();
  const { signal } = over;
  const unread = setTimeout(() => over.abort(), unreadMillis);
  try {
    await Promise.race([once(out, 'drain', { signal }), once(out, 'close', { signal })]);
  } catch {
    out.destroy();
  } finally {
    clearTimeout(unread);
    // What was not met is listened for no more.
    over.abort();
  }
}
