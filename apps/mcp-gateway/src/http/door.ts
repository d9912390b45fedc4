/** The way in: who asks and how often, and the way on to the API with the asker's own token. */
import { retrying } from '@muster/client';
import {
  bearerOf,
  createMemoryStore,
  type Metrics,
  type Rate,
  requireRoom,
  type Service,
} from '@muster/http';
import { type JSONRPCRequest } from '@modelcontextprotocol/server';
import { type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Api, type Caller } from './api.ts';
import { digest, type Intent, Intents } from '../calls/intents.ts';
import { isUnauthorized } from '../answers/failures.ts';
import { Identities, type Identity } from '../tools/rights.ts';
import { type Mcp } from '../protocol/server.ts';
import { reachesApi } from '../tools/toolbox.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, from before the body is read. */
    asker: Asker | null;
  }
}

export interface Asker {
  readonly secret: string;
  /** The secret as a digest. */
  readonly token: string;
  readonly identity: Identity;
  /** Whether the API was asked for it now, rather than a while ago. */
  readonly isFresh: boolean;
}

export interface DoorOptions {
  readonly api: Api;
  readonly mcp: Mcp;
  readonly retrySeconds: number;
  /** How often a token may ask for what no call of the API answers. */
  readonly lists: Rate;
  readonly leave: Service['leave'];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Goes along with each call, so that logs of both can be read together. */
const passedOn = ['traceparent', 'tracestate', 'user-agent'] as const;

export function headersFor(request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = { 'x-request-id': request.id, 'x-forwarded-for': request.ip };
  for (const name of passedOn) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

export function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

export function askerOf({ asker }: FastifyRequest): Asker {
  if (asker === null) throw new Error('nobody asked who it is');
  return asker;
}

/** A client's own key, as a header or in _meta; the gateway could only guess which calls are one intention. */
function ownKey(request: FastifyRequest, { params }: JSONRPCRequest): string | undefined {
  const inMeta = params?._meta?.['muster/idempotencyKey'];
  const header = request.headers['idempotency-key'];
  const key = typeof inMeta === 'string' ? inMeta : header;
  return typeof key === 'string' && key !== '' ? key : undefined;
}

/** What is remembered from one request to the next, and asked for each. */
export class Door {
  readonly options: DoorOptions;
  readonly identities = new Identities();
  readonly #intents = new Intents();
  readonly #asked = createMemoryStore();
  readonly #counts = new Map<string, ReturnType<Metrics['operation']>>();

  constructor(options: DoorOptions) {
    this.options = options;
  }

  /** Who has no good token is told so before a byte of the body is read. */
  async letIn(request: FastifyRequest): Promise<void> {
    const secret = bearerOf(request);
    const token = digest(secret);
    const known = this.identities.known(token);
    const identity =
      known ?? (await this.identities.of(token, this.transportFor(request, { token: secret })));
    request.asker = { secret, token, identity, isFresh: known === undefined };
    request.party = identity.ids?.memberId ?? token;
  }

  /** Whether the API takes the token still. While that cannot be asked, what is remembered counts. */
  async holds(request: FastifyRequest): Promise<boolean> {
    const { secret, token } = askerOf(request);
    try {
      const transport = this.options.api.transport({ token: secret, headers: headersFor(request) });
      await this.identities.of(token, transport);
      return true;
    } catch (failure) {
      return !isUnauthorized(failure);
    }
  }

  /** The API counts what it is asked; what it is not asked is counted here. */
  async admit(message: JSONRPCRequest, token: string): Promise<void> {
    const name = message.method === 'tools/call' ? message.params?.['name'] : undefined;
    if (typeof name === 'string' && reachesApi(name)) return;
    const quotas = await this.#asked.take([{ key: token, rate: this.options.lists }]);
    requireRoom(quotas, 'token_limit', 'Too many requests with this token.');
  }

  transportFor(
    request: FastifyRequest,
    caller: Omit<Caller, 'headers'>,
    onRetry: () => void = () => undefined,
  ) {
    const { api, retrySeconds, logger } = this.options;
    return retrying(api.transport({ ...caller, headers: headersFor(request) }), {
      forSeconds: retrySeconds,
      onRetry: (failure, seconds) => {
        onRetry();
        logger.warn({ requestId: request.id, reason: failure.message, seconds }, 'trying again');
      },
    });
  }

  /** Undefined for what is no call of a tool. */
  intentOf(request: FastifyRequest, message: JSONRPCRequest, token: string): Intent | undefined {
    if (message.method !== 'tools/call') return undefined;
    const own = ownKey(request, message);
    if (own !== undefined) return { key: digest(token, 'own', own), isOwn: true, delivered: () => undefined };
    return this.#intents.of(
      digest(token, JSON.stringify(message.params ?? null), JSON.stringify(message.id)),
    );
  }

  count(name: string): ReturnType<Metrics['operation']> {
    const known = this.#counts.get(name) ?? this.options.metrics.operation(name);
    this.#counts.set(name, known);
    return known;
  }
}
