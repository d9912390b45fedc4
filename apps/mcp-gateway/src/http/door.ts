/** Authenticates and rate-limits requests, and creates transports to the API with the caller's own token. */
import { retrying } from '@muster/client';
import {
  bearerTokenOf,
  createMemoryStore,
  type Metrics,
  type Rate,
  requireWithinLimits,
  type Service,
} from '@muster/http';
import { type JSONRPCRequest } from '@modelcontextprotocol/server';
import { type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Api, type ApiCaller } from './api.ts';
import { digest, type IdempotencyIntent, IntentStore } from '../calls/intents.ts';
import { isUnauthorized } from '../answers/failures.ts';
import { IdentityCache, type CallerIdentity } from '../tools/rights.ts';
import { type McpHandler } from '../protocol/server.ts';
import { reachesApi } from '../tools/toolbox.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller; set before the body is read. */
    mcpCaller: AuthenticatedCaller | null;
  }
}

export interface AuthenticatedCaller {
  readonly secret: string;
  /** SHA-256 digest of the secret. */
  readonly tokenDigest: string;
  readonly identity: CallerIdentity;
  /** True if the API verified the token for this request, rather than for an earlier one. */
  readonly isJustVerified: boolean;
}

export interface RequestGateOptions {
  readonly api: Api;
  readonly mcp: McpHandler;
  readonly retrySeconds: number;
  /** Rate limit per token for requests that are answered without a call of the API. */
  readonly listRate: Rate;
  readonly releaseRequestSlot: Service['releaseSlot'];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Headers that are passed on with each call, so that the logs of both services can be correlated. */
const forwardedHeaders = ['traceparent', 'tracestate', 'user-agent'] as const;

export function forwardedHeadersOf(request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = { 'x-request-id': request.id, 'x-forwarded-for': request.ip };
  for (const name of forwardedHeaders) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

export function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

export function authenticatedCallerOf({ mcpCaller }: FastifyRequest): AuthenticatedCaller {
  if (mcpCaller === null) throw new Error('the request was not authenticated');
  return mcpCaller;
}

/**
 * Returns the client's own idempotency key, from a header or from _meta. Without it, the gateway can only
 * guess which calls are retries.
 */
function clientIdempotencyKey(request: FastifyRequest, { params }: JSONRPCRequest): string | undefined {
  const inMeta = params?._meta?.['muster/idempotencyKey'];
  const header = request.headers['idempotency-key'];
  const key = typeof inMeta === 'string' ? inMeta : header;
  return typeof key === 'string' && key !== '' ? key : undefined;
}

/** Checks each request, and caches identities, recent calls and metrics between requests. */
export class RequestGate {
  readonly options: RequestGateOptions;
  readonly identities = new IdentityCache();
  readonly #intents = new IntentStore();
  readonly #asked = createMemoryStore();
  readonly #counts = new Map<string, ReturnType<Metrics['createOperationCounter']>>();

  constructor(options: RequestGateOptions) {
    this.options = options;
  }

  /** Authenticates the request. A request without a valid token is rejected before its body is read. */
  async authenticate(request: FastifyRequest, isMcp: boolean): Promise<void> {
    const secret = bearerTokenOf(request);
    const token = digest(secret);
    const known = this.identities.known(token);
    const identity =
      known ?? (await this.identities.of(token, this.transportFor(request, { token: secret, isMcp })));
    request.mcpCaller = { secret, tokenDigest: token, identity, isJustVerified: known === undefined };
    request.party = identity.ids?.memberId ?? token;
  }

  /**
   * Returns true if the API still accepts the token. While the API is unavailable, the cached answer counts.
   */
  async isTokenAccepted(request: FastifyRequest): Promise<boolean> {
    const { secret, tokenDigest } = authenticatedCallerOf(request);
    try {
      const headers = forwardedHeadersOf(request);
      const transport = this.options.api.transport({ token: secret, headers, isMcp: true });
      await this.identities.of(tokenDigest, transport);
      return true;
    } catch (failure) {
      return !isUnauthorized(failure);
    }
  }

  /** Applies the rate limit to messages that need no call of the API. The API itself counts its calls. */
  async applyRateLimit(message: JSONRPCRequest, token: string): Promise<void> {
    const name = message.method === 'tools/call' ? message.params?.['name'] : undefined;
    if (typeof name === 'string' && reachesApi(name)) return;
    await this.limitRequests(token);
  }

  /** Counts the request in the rate limit of the token. Throws 429 if the limit is exceeded. */
  async limitRequests(token: string): Promise<void> {
    const quotas = await this.#asked.take([{ key: token, rate: this.options.listRate }]);
    requireWithinLimits(quotas, 'token_limit', 'Too many requests with this token.');
  }

  transportFor(
    request: FastifyRequest,
    caller: Omit<ApiCaller, 'headers'>,
    onRetry: () => void = () => undefined,
  ) {
    const { api, retrySeconds, logger } = this.options;
    return retrying(api.transport({ ...caller, headers: forwardedHeadersOf(request) }), {
      forSeconds: retrySeconds,
      onRetry: (failure, seconds) => {
        onRetry();
        logger.warn({ requestId: request.id, reason: failure.message, seconds }, 'trying again');
      },
    });
  }

  /** Returns the intent of a tool call; undefined for other messages. */
  intentOf(request: FastifyRequest, message: JSONRPCRequest, token: string): IdempotencyIntent | undefined {
    if (message.method !== 'tools/call') return undefined;
    const own = clientIdempotencyKey(request, message);
    if (own !== undefined)
      return { key: digest(token, 'own', own), isOwn: true, markDelivered: () => undefined };
    return this.#intents.of(
      digest(token, JSON.stringify(message.params ?? null), JSON.stringify(message.id)),
    );
  }

  count(name: string): ReturnType<Metrics['createOperationCounter']> {
    const known = this.#counts.get(name) ?? this.options.metrics.createOperationCounter(name);
    this.#counts.set(name, known);
    return known;
  }
}
