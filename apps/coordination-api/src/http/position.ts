import { badRequest } from '@muster/contract';
import { type FastifyRequest } from 'fastify';

/** The format of a Postgres write-ahead log position (LSN). */
const positionPattern = /^[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}$/;

/** Returns the `Muster-Position` header; null if it is missing. Throws 400 if it is malformed. */
export function positionOf(request: FastifyRequest): string | null {
  const told = request.headers['muster-position'];
  if (told === undefined) return null;
  if (typeof told === 'string' && positionPattern.test(told)) return told;
  throw badRequest('The Muster-Position header is invalid.', [
    { path: 'Muster-Position', message: 'must be a position from an earlier response, such as 0/16B3748' },
  ]);
}
