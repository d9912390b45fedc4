/**
 * Answers `subscriptions/listen`, the only response that is always a stream. Errors are sent before the
 * stream begins.
 */
import { MusterError } from '@muster/client';
import { unauthorized } from '@muster/registry';
import { durationMillis, sendError } from '@muster/http';
import { type JSONRPCRequest, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { askerOf, type Door, headersFor } from '../http/door.ts';
import { type View } from '../http/narrowing.ts';
import { refuse } from '../http/replies.ts';
import { listen } from './subscriptions.ts';

interface Subscribing {
  readonly request: FastifyRequest;
  readonly message: JSONRPCRequest;
  readonly view: View;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

export async function subscribe(
  door: Door,
  reply: FastifyReply,
  { request, message, view, stopping }: Subscribing,
): Promise<FastifyReply> {
  const { api, leave, logger } = door.options;
  const { secret, token, identity } = askerOf(request);
  await door.admit(message, token);
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  const waiter = { token, ids: identity.ids };
  const signal = AbortSignal.any([left.signal, stopping]);
  const caller = { token: secret, headers: headersFor(request) };
  const follow = api.follow(caller);
  const calls = (until: AbortSignal) => api.transport({ ...caller, waiter, left: until });
  leave(request);
  try {
    const begin = () => reply.hijack().raw;
    await listen({ message, headers: request.headers, view, follow, calls, begin, signal });
    const durationMs = durationMillis(request);
    logger.info({ requestId: request.id, method: message.method, durationMs, ...identity.ids }, 'mcp');
  } catch (failure) {
    if (reply.sent) return reply;
    if (!(failure instanceof MusterError)) throw failure;
    if (failure.status === 401) {
      door.identities.forget(token);
      return sendError(reply, unauthorized(), request.id);
    }
    const code = failure.status >= 429 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
    const data = { error: failure.body };
    return refuse(reply, 200, { code, message: failure.message, data }, message.id);
  }
  return reply;
}
