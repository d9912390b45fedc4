import { badRequest } from '@muster/contract';
import { type FastifyRequest } from 'fastify';

const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** Returns the `Idempotency-Key` header; null if it is missing. Throws 400 if it is malformed. */
export function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && keyPattern.test(key)) return key;
  throw badRequest('The Idempotency-Key header is invalid.', [
    { path: 'Idempotency-Key', message: 'must be 1 to 255 printable characters' },
  ]);
}
