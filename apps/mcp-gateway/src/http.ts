/** `POST /api/mcp`: what HTTP asks of a request before the protocol sees it, and how its answer goes out. */
import { MusterError, retrying } from '@muster/client';
import { ApiError, bulkBodyLimit, tooMany, unauthorized } from '@muster/registry';
import {
  bearerOf,
  createMemoryStore,
  describeSpan,
  durationMillis,
  elapsedMillis,
  type Metrics,
  type Rate,
  retryAfterSeconds,
  sendError,
  type Service,
} from '@muster/http';
import {
  classifyInboundRequest,
  createRequestStateCodec,
  type JSONRPCRequest,
  type MessageClassification,
  ProtocolErrorCode,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Api, type Caller } from './api.ts';
import { digest, type Intent, Intents } from './intents.ts';
import { isUnauthorized } from './failures.ts';
import { createViews, pathForms, type View } from './narrowing.ts';
import { allowOrigins, originGuard, type OriginRules } from './origins.ts';
import { refusedText, tellProgress } from './progress.ts';
import { withArguments } from './repair.ts';
import { idOf, json, refuse, statusOf, textOfReply } from './replies.ts';
import { Identities, type Identity } from './rights.ts';
import { legacyVersions, type Mcp, modernVersions } from './server.ts';
import { type Session } from './session.ts';
import { headerFault, headerMismatch } from './standard-headers.ts';
import { listen } from './subscriptions.ts';
import { reachesApi } from './toolbox.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, from before the body is read. */
    asker: Asker | null;
  }
}

interface Asker {
  readonly secret: string;
  /** The secret as a digest. */
  readonly token: string;
  readonly identity: Identity;
  /** Whether the API was asked for it now, rather than a while ago. */
  readonly isFresh: boolean;
}

export interface RouteOptions {
  readonly api: Api;
  readonly mcp: Mcp;
  readonly rules: OriginRules;
  readonly retrySeconds: number;
  /** How often a token may ask for what no call of the API answers. */
  readonly lists: Rate;
  readonly leave: Service['leave'];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export const mcpPath = '/api/mcp';
const otherMethods = ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'] as const;

/** Goes along with each call, so that logs of both can be read together. */
const passedOn = ['traceparent', 'tracestate', 'user-agent'] as const;

function headersFor(request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = { 'x-request-id': request.id, 'x-forwarded-for': request.ip };
  for (const name of passedOn) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

const tooOften = (seconds: number): ApiError =>
  tooMany('token_limit', seconds, 'Too many requests with this token.');

/** A client's own key, as a header or in _meta; it says which calls are one intention better than anybody can guess. */
function ownKey(request: FastifyRequest, { params }: JSONRPCRequest): string | undefined {
  const inMeta = params?._meta?.['muster/idempotencyKey'];
  const header = request.headers['idempotency-key'];
  const key = typeof inMeta === 'string' ? inMeta : header;
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function askerOf({ asker }: FastifyRequest): Asker {
  if (asker === null) throw new Error('nobody asked who it is');
  return asker;
}

export function addMcpRoute(app: FastifyInstance, options: RouteOptions): void {
  const { api, mcp, retrySeconds, lists, metrics, logger } = options;
  const guard = originGuard(options.rules);
  const readView = createViews();
  const identities = new Identities();
  const intents = new Intents();
  const asked = createMemoryStore();
  const counts = new Map<string, ReturnType<Metrics['operation']>>();
  const count = (name: string) => {
    const known = counts.get(name) ?? metrics.operation(name);
    counts.set(name, known);
    return known;
  };

  const transportFor = (
    request: FastifyRequest,
    caller: Omit<Caller, 'headers'>,
    onRetry: () => void = () => undefined,
  ) =>
    retrying(api.transport({ ...caller, headers: headersFor(request) }), {
      forSeconds: retrySeconds,
      onRetry: (failure, seconds) => {
        onRetry();
        logger.warn({ requestId: request.id, reason: failure.message, seconds }, 'trying again');
      },
    });

  /** The API counts what it is asked; what it is not asked is counted here. */
  async function admit(message: JSONRPCRequest, token: string): Promise<void> {
    const name = message.method === 'tools/call' ? message.params?.['name'] : undefined;
    if (typeof name === 'string' && reachesApi(name)) return;
    const quotas = await asked.take([{ key: token, rate: lists }]);
    if (quotas.some(({ waitMillis }) => waitMillis > 0)) throw tooOften(retryAfterSeconds(quotas));
  }

  function intentOf(request: FastifyRequest, message: JSONRPCRequest, token: string): Intent {
    const own = ownKey(request, message);
    if (own !== undefined) return { key: digest(token, 'own', own), isOwn: true, delivered: () => undefined };
    return intents.of(digest(token, JSON.stringify(message.params ?? null), JSON.stringify(message.id)));
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    sent: JSONRPCRequest,
    classification: MessageClassification,
    view: View,
  ): Promise<FastifyReply> {
    const message = withArguments(sent);
    const { secret, token, identity, isFresh } = askerOf(request);
    await admit(message, token);
    const left = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) left.abort();
    });
    const waiter = { token, orgId: identity.ids?.orgId ?? null };
    // What the gateway itself sent twice is one call, and no news to the client.
    const write = { again: false, replayed: false };
    const onReplay = () => (write.replayed ||= !write.again);
    const transport = transportFor(
      request,
      { token: secret, left: left.signal, waiter, onReplay },
      () => (write.again = true),
    );
    const intent = message.method === 'tools/call' ? intentOf(request, message, token) : undefined;
    const refusal = new AbortController();
    let isAsked = isFresh;
    let name = 'mcp';
    let outcome = 'ok';
    let reason: string | undefined;
    const session: Session = {
      transport: (...call) => {
        isAsked = true;
        return transport(...call);
      },
      view,
      requestId: request.id,
      version: classification.revision ?? headerOf(request, 'mcp-protocol-version'),
      codec: createRequestStateCodec({ key: digest(secret, 'request state') }),
      intent: intent ?? { key: '', isOwn: false },
      isReplay: () => write.replayed,
      identity,
      refused: () => {
        identities.forget(token);
        refusal.abort();
      },
      called: (tool, error) => {
        name = tool;
        if (error === undefined) return;
        outcome = error.code;
        reason = error.details?.reason ?? error.code;
      },
      fault: (error) => {
        logger.error({ err: error, requestId: request.id, method: message.method }, 'fault');
      },
    };
    const progress = tellProgress(message, request.headers.accept ?? '', reply);
    const answered = await mcp.ask(message, classification, session);
    if (!isAsked && !(await holds(request))) session.refused();
    if (refusal.signal.aborted) outcome = 'unauthorized';
    else if (left.signal.aborted) [outcome, reason] = ['left', undefined];
    else if ('error' in answered.message && outcome === 'ok') outcome = 'protocol_error';
    request.operation = name;
    // A refused token is HTTP's answer too, and counted as that.
    if (reason !== undefined && !refusal.signal.aborted) metrics.failed(name, outcome, reason);
    count(name)(outcome, elapsedMillis(request) / 1_000);
    describeSpan(name === 'mcp' ? message.method : `${message.method} ${name}`, {
      'muster.outcome': outcome,
    });
    logger.info(
      {
        requestId: request.id,
        method: message.method,
        era: classification.revision ?? classification.era,
        ...(name !== 'mcp' && { tool: name }),
        ...identity.ids,
        outcome,
        ...(reason !== undefined && { reason }),
        durationMs: durationMillis(request),
      },
      'mcp',
    );
    if (refusal.signal.aborted)
      return progress.end(refusedText(message)) ? reply : sendError(reply, unauthorized(), request.id);
    // Whoever left before it goes out may send it again.
    if (intent !== undefined && !reply.raw.closed) {
      reply.raw.once('finish', () => {
        intent.delivered();
      });
    }
    const text = textOfReply(answered);
    return progress.end(text) ? reply : json(reply, statusOf(answered, classification), text);
  }

  /** Whether the API takes the token still. While that cannot be asked, what is remembered counts. */
  async function holds(request: FastifyRequest): Promise<boolean> {
    const { secret, token } = askerOf(request);
    try {
      await identities.of(token, api.transport({ token: secret, headers: headersFor(request) }));
      return true;
    } catch (failure) {
      return !isUnauthorized(failure);
    }
  }

  const stopping = new AbortController();
  app.addHook('preClose', async () => {
    stopping.abort();
  });

  /** The one answer that is a stream; what it refuses it refuses before it begins. */
  async function subscribe(
    request: FastifyRequest,
    reply: FastifyReply,
    message: JSONRPCRequest,
    view: View,
  ): Promise<FastifyReply> {
    const { secret, token, identity } = askerOf(request);
    await admit(message, token);
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    const waiter = { token, orgId: identity.ids?.orgId ?? null };
    const signal = AbortSignal.any([left.signal, stopping.signal]);
    const caller = { token: secret, headers: headersFor(request) };
    const follow = api.follow(caller);
    const calls = (until: AbortSignal) => api.transport({ ...caller, waiter, left: until });
    options.leave(request);
    try {
      const begin = () => reply.hijack().raw;
      await listen({ message, headers: request.headers, view, follow, calls, begin, signal });
      const durationMs = durationMillis(request);
      logger.info({ requestId: request.id, method: message.method, durationMs, ...identity.ids }, 'mcp');
    } catch (failure) {
      if (reply.sent) return reply;
      if (!(failure instanceof MusterError)) throw failure;
      if (failure.status === 401) identities.forget(token);
      if (failure.status === 401) return sendError(reply, unauthorized(), request.id);
      const code = failure.status >= 429 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
      return refuse(
        reply,
        200,
        { code, message: failure.message, data: { error: failure.body } },
        message.id,
      );
    }
    return reply;
  }

  app.decorateRequest('asker', null);
  const config = { isForMcp: true };
  allowOrigins(app, options.rules);

  /** Who has no good token is told so before a byte of the body is read. */
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    guard(request.headers);
    const secret = bearerOf(request);
    const token = digest(secret);
    const known = identities.known(token);
    const identity = known ?? (await identities.of(token, transportFor(request, { token: secret })));
    request.asker = { secret, token, identity, isFresh: known === undefined };
    request.party = token;
  };

  const errorHandler = (
    error: FastifyError | ApiError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void => {
    // What the protocol has a code for; the rest is HTTP's, and answered as everywhere.
    if (error instanceof ApiError && error.code === 'bad_request') {
      const code =
        error.details.reason === 'invalid_json'
          ? ProtocolErrorCode.ParseError
          : ProtocolErrorCode.InvalidRequest;
      const issues = (error.details.issues ?? []).map(({ path: where, message }) => `${where}: ${message}`);
      const message = [error.message, ...issues].join(' ');
      void refuse(reply, 400, { code, message, data: error.toBody(request.id) });
      return;
    }
    throw error;
  };

  const receive = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { headers, body } = request;
    const [path = '', query = ''] = request.url.split('?');
    const inPath = pathForms[path.slice(mcpPath.length)];
    const view = readView([inPath, query].filter(Boolean).join('&'), headers);
    if (Array.isArray(body)) {
      const message = 'Batches are not taken: send one message in each request.';
      return refuse(reply, 400, { code: ProtocolErrorCode.InvalidRequest, message });
    }
    const [version, mcpMethod, mcpName] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map((name) =>
      headerOf(request, name),
    );
    const inbound = classifyInboundRequest({
      httpMethod: 'POST',
      ...(version !== undefined && { protocolVersionHeader: version }),
      ...(mcpMethod !== undefined && { mcpMethodHeader: mcpMethod }),
      ...(mcpName !== undefined && { mcpNameHeader: mcpName }),
      ...(body !== undefined && { body }),
    });
    if (inbound.kind === 'reject') return refuse(reply, inbound.httpStatus, inbound, idOf(body));
    if (inbound.kind === 'modern') {
      const { revision } = inbound.classification;
      if (!modernVersions.some((known) => known === revision)) {
        // Of this era: the older ones are agreed on by initialize, and server/discover names the same.
        const supported = [...modernVersions];
        const error = new UnsupportedProtocolVersionError({ supported, requested: revision ?? 'unknown' });
        return refuse(reply, 400, error, idOf(body));
      }
      if (inbound.messageKind === 'notification') return reply.code(202).send();
      const message = inbound.message;
      const fault = headerFault(message, headers);
      if (fault !== undefined)
        return refuse(reply, 400, { code: headerMismatch, message: fault }, message.id);
      if (message.method === 'subscriptions/listen') return subscribe(request, reply, message, view);
      return answer(request, reply, message, inbound.classification, view);
    }
    // Notifications need nothing done, and nothing is ever asked that a response could answer.
    if (inbound.reason === 'notification' || inbound.reason === 'response') return reply.code(202).send();
    if (
      inbound.reason === 'no-claim' &&
      version !== undefined &&
      !legacyVersions.some((known) => known === version)
    ) {
      const message = `This server does not speak "${version.slice(0, 40)}"; it speaks ${[...modernVersions, ...legacyVersions].join(', ')}.`;
      return refuse(reply, 400, { code: ProtocolErrorCode.InvalidRequest, message }, idOf(body));
    }
    return answer(request, reply, body as JSONRPCRequest, { era: 'legacy' }, view);
  };

  for (const end of ['', ...Object.keys(pathForms)]) {
    const url = mcpPath + end;
    app.post(url, { onRequest, errorHandler, config, bodyLimit: bulkBodyLimit }, receive);
    app.route({
      method: [...otherMethods],
      url,
      config,
      // Clients that were refused try this way next, and show what it says.
      onRequest: async (request) =>
        request.method === 'OPTIONS' ? guard(request.headers) : onRequest(request),
      handler: (_request, reply) => {
        const message = 'This server keeps no session: POST alone is answered.';
        return refuse(reply.header('allow', 'POST'), 405, {
          code: ProtocolErrorCode.InvalidRequest,
          message,
        });
      },
    });
  }
}
