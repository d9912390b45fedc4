/**
 * Answers `subscriptions/listen`, the only response that is always a stream. Errors are sent before the
 * stream begins.
 */
import { MusterError } from '@muster/client';
import { unauthorized } from '@muster/contract';
import { durationMillis, sendError } from '@muster/http';
import { type JSONRPCRequest, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { authenticatedCallerOf, type RequestGate, forwardedHeadersOf } from '../http/door.ts';
import { type ConnectionView } from '../http/narrowing.ts';
import { sendJsonRpcError } from '../http/replies.ts';
import { runSubscription } from './subscriptions.ts';
import { findMissingTasksCapability } from './tasks.ts';

interface SubscriptionRequest {
  readonly request: FastifyRequest;
  readonly message: JSONRPCRequest;
  readonly view: ConnectionView;
  /** Aborts when the service stops. */
  readonly stopSignal: AbortSignal;
}

export async function subscribe(
  gate: RequestGate,
  reply: FastifyReply,
  { request, message, view, stopSignal }: SubscriptionRequest,
): Promise<FastifyReply> {
  const { api, releaseRequestSlot, logger } = gate.options;
  const { secret, tokenDigest, identity } = authenticatedCallerOf(request);
  await gate.applyRateLimit(message, tokenDigest);
  const missingCapability = findMissingTasksCapability(message);
  if (missingCapability !== undefined) return sendJsonRpcError(reply, 400, missingCapability, message.id);
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  const waiter = { token: tokenDigest, ids: identity.ids };
  const signal = AbortSignal.any([left.signal, stopSignal]);
  const caller = { token: secret, headers: forwardedHeadersOf(request), isMcp: true };
  const follow = api.followActivity(caller);
  const calls = (until: AbortSignal) =>
    api.transport({ ...caller, longPollCaller: waiter, disconnectSignal: until });
  releaseRequestSlot(request);
  try {
    const begin = () => reply.hijack().raw;
    await runSubscription({
      message,
      headers: request.headers,
      view,
      follow,
      createTransport: calls,
      takeOverResponse: begin,
      signal,
    });
    const durationMs = durationMillis(request);
    logger.info({ requestId: request.id, method: message.method, durationMs, ...identity.ids }, 'mcp');
  } catch (failure) {
    if (reply.sent) return reply;
    if (!(failure instanceof MusterError)) throw failure;
    if (failure.status === 401) {
      gate.identities.forget(tokenDigest);
      return sendError(reply, unauthorized(), request.id);
    }
    const code = failure.status >= 429 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
    const data = { error: failure.body };
    return sendJsonRpcError(reply, 200, { code, message: failure.message, data }, message.id);
  }
  return reply;
}
