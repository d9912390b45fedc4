/**
 * `GET /api/events/stream`: what events.list answers, as Server-Sent Events. Each piece of it is a call of events.list by
 * itself, so a stream shows what its caller may see at that moment, and ends with the right to it.
 */
import { once } from 'node:events';
import { type ServerResponse } from 'node:http';
import { ApiError, type Event, internal, maxLimit, registry } from '@muster/registry';
import {
  type AuthenticatedToken,
  execute,
  type Handler,
  type Surroundings,
  toApiError,
} from '@muster/runtime';
import { type Pool } from '@muster/database';
import { type Service } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticate } from './authenticate.ts';
import { type CallLimits } from './limits.ts';
import { type Wait } from './operationRoutes.ts';
import { byMember, createShares, streamsAtOnce } from './shares.ts';

export interface EventStreamOptions {
  readonly pool: Pool;
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly surroundings: Surroundings;
  readonly wait: Wait;
  readonly aside: Service['aside'];
  readonly leave: Service['leave'];
}

/** How often a stream without events says where it stands, so that its caller goes on from near there. */
const quietSeconds = 15;
/** A reader that takes nothing for so long is gone. */
const unreadMillis = 30_000;
/** When callers of a process that stops come again: not all at once. */
const comeAgainMillis = { least: 500, most: 2_500 };

/** What a page of events.list is, as it came out of the pipeline. */
interface Page {
  readonly items: readonly Event[];
  readonly cursor: string;
}

/** The parameters as a query has them: `kinds` with commas, or several times. */
function paramsOf({ query, headers }: FastifyRequest): Record<string, unknown> {
  const { after = 'latest', kinds, ...others } = query as Record<string, string | string[]>;
  const last = headers['last-event-id'];
  return {
    ...others,
    ...(kinds !== undefined && { kinds: [kinds].flat().flatMap((text) => text.split(',')) }),
    after: last === undefined || last === '' ? after : last,
  };
}

const isResync = (error: unknown): boolean => error instanceof ApiError && error.details.reason === 'resync';

export function addEventStream(app: FastifyInstance, options: EventStreamOptions): void {
  const { pool, authenticate, limits, handlers, surroundings, wait, aside, leave } = options;
  const { name } = registry.events.list;
  const handler = handlers.get(name);
  if (handler === undefined) throw new Error(`nobody handles ${name}`);
  const shares = createShares(streamsAtOnce, 'stream', 'too_many_waiting', byMember);
  const stopping = new AbortController();
  app.addHook('preClose', async () => {
    stopping.abort();
  });

  /** One page, and what to wait for where it is empty. */
  async function read(token: AuthenticatedToken, request: FastifyRequest, params: Record<string, unknown>) {
    const call = {
      ...{ token, params, requestId: request.id, idempotencyKey: null, ip: request.ip },
      userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
    };
    const { json, awaits } = await execute(pool, handler as Handler, call, surroundings);
    return { page: JSON.parse(json) as Page, awaits };
  }
  type Read = Awaited<ReturnType<typeof read>>;

  async function stream(token: AuthenticatedToken, request: FastifyRequest, reply: FastifyReply) {
    const params = { limit: maxLimit, waitSeconds: quietSeconds, ...paramsOf(request) };
    let first: Read;
    let missed = false;
    try {
      first = await read(token, request, params);
    } catch (error) {
      if (!isResync(error)) throw error;
      missed = true;
      first = await read(token, request, { ...params, after: 'latest' });
    }
    reply.hijack();
    const out = reply.raw;
    out.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // A process that stops does not wait for the connection to be used again.
      connection: 'close',
      // A proxy that gathers answers would hold events back.
      'x-accel-buffering': 'no',
      'x-request-id': request.id,
    });
    if (missed) await write(out, `event: resync\nid: ${first.page.cursor}\ndata: {}\n\n`);
    await goOn({ token, request, out, params }, first);
    out.end();
  }

  interface Stream {
    readonly token: AuthenticatedToken;
    readonly request: FastifyRequest;
    readonly out: ServerResponse;
    readonly params: Record<string, unknown>;
  }

  async function goOn({ token, request, out, params }: Stream, first: Read): Promise<void> {
    let { page, awaits } = first;
    const isGone = (): boolean => out.destroyed;
    while (!isGone()) {
      const said = page.items.map(
        ({ cursor, ...event }) => `id: ${cursor}\ndata: ${JSON.stringify(event)}\n\n`,
      );
      // An id by itself is kept by its reader, who is told of nothing.
      await write(out, said.length > 0 ? said.join('') : `id: ${page.cursor}\n\n`);
      const awaited = awaits;
      await aside(request, async (left) => {
        if (awaited !== null) await wait(token.identity, awaited, AbortSignal.any([left, stopping.signal]));
      });
      if (stopping.signal.aborted) {
        await write(out, `retry: ${comeAgain()}\n\n`);
        return;
      }
      if (isGone()) return;
      try {
        ({ page, awaits } = await read(token, request, { ...params, after: page.cursor }));
      } catch (error) {
        const known = toApiError(error);
        await write(out, `event: end\ndata: ${JSON.stringify(known.toBody(request.id))}\n\n`);
        return;
      }
    }
  }

  app.get('/api/events/stream', {
    onRequest: async (request, reply) => {
      request.caller = await authenticate(request);
      const admitted = limits.admit(request.caller.identity, reply, false);
      if (admitted !== undefined) await admitted;
    },
    handler: async (request, reply) => {
      if (request.caller === null) throw internal();
      const giveBack = shares.enter(request.caller.identity);
      try {
        await stream(request.caller, request, reply);
      } finally {
        giveBack();
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
  if (out.destroyed || out.write(text)) return;
  const over = AbortSignal.timeout(unreadMillis);
  try {
    await Promise.race([once(out, 'drain', { signal: over }), once(out, 'close', { signal: over })]);
  } catch {
    out.destroy();
  }
}
