/** `Authorization: Bearer <token>` → who it is, before a byte of the body is read. */
import { type Authenticator, type AuthenticatedToken } from '@muster/runtime';
import { bearerOf } from '@muster/service';
import { type FastifyRequest } from 'fastify';

export const authenticate = async (
  authenticator: Authenticator,
  request: FastifyRequest,
): Promise<AuthenticatedToken> => authenticator.authenticate(bearerOf(request));
