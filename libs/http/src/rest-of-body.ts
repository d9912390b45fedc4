/** Handles a body that is still arriving when its request is refused. */
import { type FastifyReply, type FastifyRequest } from 'fastify';

/**
 * The time limit for reading the rest of a body, in milliseconds. It suffices for a few MiB on a slow line;
 * after it the caller is disconnected.
 */
const drainTimeoutMillis = 5_000;

/**
 * Reads and discards the rest of a body before the connection may end. Closing a connection with unread bytes
 * resets it, and the caller loses the response (RFC 9112, section 9.6). Call it before the response's headers
 * are sent.
 */
export function drainRequestBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  // The framework asks to close the connection after each error in a body. Without that header, the
  // connection stays open and Node reads the rest of the body.
  reply.removeHeader('connection');
  reply.raw.once('finish', () => raw.resume());
}

/** Disconnects a caller that is still sending a body some time after the response. */
export function cutOffRestOfBody({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return;
  const cutOff = setTimeout(() => raw.destroy(), drainTimeoutMillis).unref();
  raw.once('close', () => {
    clearTimeout(cutOff);
  });
}
