/** Sends JSON-RPC responses over HTTP. */
import { type MessageClassification, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server';
import { type FastifyReply } from 'fastify';
import { type Reply } from '../protocol/exchange.ts';
import { textOf } from '../protocol/server.ts';

type Id = string | number | null;

export const json = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(text);

export function refuse(
  reply: FastifyReply,
  status: number,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  id: Id = null,
): FastifyReply {
  const { code, message, data } = error;
  return json(
    reply,
    status,
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }),
  );
}

/** Returns the id of a message, if it is a string or number. */
export function idOf(body: unknown): Id {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null;
  return typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null;
}

/** Serializes a response. The JSON text of a long tool list is cached rather than built for each client. */
export function textOfReply({ message }: Reply): string {
  if (!('result' in message)) return JSON.stringify(message);
  const { tools } = message.result;
  const text = Array.isArray(tools) ? textOf(tools as Tool[]) : undefined;
  if (text === undefined) return JSON.stringify(message);
  const { tools: _, ...others } = message.result;
  const rest = JSON.stringify(others).slice(1);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":{"tools":${text}${rest === '}' ? '' : ','}${rest}}`;
}

/**
 * HTTP status of protocol errors in the modern revision. In older revisions, responses with protocol errors
 * have status 200.
 */
const unheardStatus: Readonly<Record<number, number>> = {
  [ProtocolErrorCode.ParseError]: 400,
  [ProtocolErrorCode.InvalidRequest]: 400,
  [ProtocolErrorCode.MethodNotFound]: 404,
  [ProtocolErrorCode.UnsupportedProtocolVersion]: 400,
};

export function statusOf({ message, isUnheard }: Reply, { era }: MessageClassification): number {
  if (!('error' in message) || era === 'legacy' || !isUnheard) return 200;
  return unheardStatus[message.error.code] ?? 200;
}
