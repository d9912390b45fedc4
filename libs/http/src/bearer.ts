/** `Authorization: Bearer <token>`, read alike wherever a token is taken. */
import { malformed, unauthorized } from '@muster/registry';
import { type FastifyRequest } from 'fastify';

const bearer = /^bearer +([^\s]+) *$/i;

/** Node joins or drops repeated headers; which of two tokens counts must never be a matter of luck. */
function countOf(header: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === header) count += 1;
  }
  return count;
}

/** The token of a request. Throws 401 where there is none, 400 where there are two. */
export function bearerOf(request: FastifyRequest): string {
  if (countOf('authorization', request.raw.rawHeaders) > 1) {
    throw malformed('repeated_authorization');
  }
  const secret = bearer.exec(request.headers.authorization ?? '')?.[1];
  if (secret === undefined) throw unauthorized();
  return secret;
}
