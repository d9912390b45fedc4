/** `Authorization: Bearer <token>`, read alike wherever a token is taken. */
import { malformed, unauthorized } from '@muster/registry';
import { type FastifyInstance, type FastifyRequest } from 'fastify';

/** Where a resource says who gives tokens for it (RFC 9728); the resource's own path comes after it. */
export const protectedResourcePath = '/.well-known/oauth-protected-resource';

/**
 * Where the address that was asked says who gives tokens for it. Its query goes along: some clients hold the resource that is
 * named there to the very address that they were given (RFC 9728, section 3.3).
 */
function metadataUrlOf(issuer: string, asked: string): string {
  const { pathname, search } = new URL(asked, issuer);
  // A backslash would end the quoted string of the header; all else that could is encoded by now.
  return `${issuer}${protectedResourcePath}${pathname}${search.replaceAll('\\', '%5C')}`;
}

/**
 * Has each 401 say who gives tokens for the resource that was asked (RFC 9728, section 5.1), by which a client with nothing but
 * the address finds its way to one. `issuer` is where people reach Muster, without a slash at the end.
 */
export function nameIssuer(app: FastifyInstance, issuer: string): void {
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode !== 401) return;
    const challenge = String(reply.getHeader('www-authenticate') ?? 'Bearer');
    // Two services may stand in a row.
    if (challenge.includes('resource_metadata=')) return;
    const metadata = `resource_metadata="${metadataUrlOf(issuer, request.url)}", scope="read write"`;
    reply.header(
      'www-authenticate',
      challenge.includes('=') ? `${challenge}, ${metadata}` : `${challenge} ${metadata}`,
    );
  });
}

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
