/** Sends JSON-RPC responses over HTTP. */
import { type MessageClassification, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server';
import { type FastifyReply } from 'fastify';
import { type RpcReply } from '../protocol/exchange.ts';
import { cachedToolListText } from '../protocol/server.ts';

type MessageId = string | number | null;

export const sendJson = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(text);

export function sendJsonRpcError(
  reply: FastifyReply,
  status: number,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  id: MessageId = null,
): FastifyReply {
  const { code, message, data } = error;
  return sendJson(
    reply,
    status,
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }),
  );
}

/** Returns the id of a message, if it is a string or number. */
export function messageIdOf(body: unknown): MessageId {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null;
  return typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null;
}

/** Serializes a response. The JSON text of a long tool list is cached rather than built for each client. */
export function serializeReply({ message }: RpcReply): string {
  if (!('result' in message)) return JSON.stringify(message);
  const { tools } = message.result;
  const text = Array.isArray(tools) ? cachedToolListText(tools as Tool[]) : undefined;
  if (text === undefined) return JSON.stringify(message);
  const { tools: _, ...others } = message.result;
  const rest = JSON.stringify(others).slice(1);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":{"tools":${text}${rest === '}' ? '' : ','}${rest}}`;
}

/**
 * HTTP status of protocol errors in the modern revision. In older revisions, responses with protocol errors
 * have status 200.
 */
const protocolErrorStatus: Readonly<Record<number, number>> = {
  [ProtocolErrorCode.ParseError]: 400,
  [ProtocolErrorCode.InvalidRequest]: 400,
  [ProtocolErrorCode.MethodNotFound]: 404,
  [ProtocolErrorCode.UnsupportedProtocolVersion]: 400,
};

export function httpStatusOf({ message, isUnhandled }: RpcReply, { era }: MessageClassification): number {
  if (!('error' in message) || era === 'legacy' || !isUnhandled) return 200;
  return protocolErrorStatus[message.error.code] ?? 200;
}
