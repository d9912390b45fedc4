import { badRequest } from '@muster/registry';
import { type FastifyRequest } from 'fastify';

/** As Postgres writes a position in its log of writes. */
const position = /^[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}$/;

/** The `Muster-Position` header; null where there is none. Throws 400 for one that does not fit. */
export function positionOf(request: FastifyRequest): string | null {
  const told = request.headers['muster-position'];
  if (told === undefined) return null;
  if (typeof told === 'string' && position.test(told)) return told;
  throw badRequest('The Muster-Position does not fit.', [
    { path: 'Muster-Position', message: 'must be one that an answer told, such as 0/16B3748' },
  ]);
}
