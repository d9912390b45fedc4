/** What is done with a body that still comes when its request is refused. */
import { type FastifyReply, type FastifyRequest } from 'fastify';

/** Long enough for some MiB on a slow line; a caller who sends more is cut off. */
const readOnMillis = 5_000;

/**
 * Reads the rest and throws it away, before the connection may end: a connection that is closed with bytes unread is reset,
 * and the caller loses the answer with it (RFC 9112, section 9.6). To be called before the answer's headers go out.
 */
export function readRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  // The framework closes after each error in a body. Node reads on by itself where the connection stays.
  reply.removeHeader('connection');
  reply.raw.once('finish', () => {
    if (raw.complete) return;
    const cutOff = setTimeout(() => raw.socket.destroy(), readOnMillis);
    raw.once('close', () => {
      clearTimeout(cutOff);
    });
    raw.resume();
  });
}
