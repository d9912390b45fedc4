/** Reads `Authorization: Bearer <token>` in one way for all services. */
import { malformedRequest, unauthorized } from '@muster/contract';
import { type FastifyInstance, type FastifyRequest } from 'fastify';

/**
 * The well-known path of OAuth protected resource metadata (RFC 9728). The path of the resource is appended
 * to it.
 */
export const protectedResourcePath = '/.well-known/oauth-protected-resource';

/**
 * Builds the address of the metadata for the requested address, including its query. Some clients require the
 * metadata to name exactly the address that they were given (RFC 9728, section 3.3).
 */
function metadataUrlOf(issuer: string, requestUrl: string): string {
  const { pathname, search } = new URL(requestUrl, issuer);
  // A backslash would escape the quote that ends the header's quoted string. In a parsed URL, other special
  // characters are already encoded.
  return `${issuer}${protectedResourcePath}${pathname}${search.replaceAll('\\', '%5C')}`;
}

/**
 * Adds the metadata address of the requested resource to each 401 (RFC 9728, section 5.1), so that a client
 * that knows only the address finds the authorization server. `issuer` is the public address of Muster,
 * without a slash at the end.
 */
export function addIssuerTo401(app: FastifyInstance, issuer: string): void {
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode !== 401) return;
    const challenge = String(reply.getHeader('www-authenticate') ?? 'Bearer');
    // The service to which this request was forwarded may have added the metadata address already.
    if (challenge.includes('resource_metadata=')) return;
    const metadata = `resource_metadata="${metadataUrlOf(issuer, request.url)}", scope="read write"`;
    reply.header(
      'www-authenticate',
      challenge.includes('=') ? `${challenge}, ${metadata}` : `${challenge} ${metadata}`,
    );
  });
}

const bearerPattern = /^bearer +([^\s]+) *$/i;

/**
 * Counts a header in the raw headers. Node joins or drops repeated headers, and the choice between two tokens
 * must not depend on that.
 */
function countHeader(header: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === header) count += 1;
  }
  return count;
}

/** Returns the token of a request. Throws 401 without a token, 400 with two. */
export function bearerTokenOf(request: FastifyRequest): string {
  if (countHeader('authorization', request.raw.rawHeaders) > 1)
    throw malformedRequest('repeated_authorization');
  const secret = bearerPattern.exec(request.headers.authorization ?? '')?.[1];
  if (secret === undefined) throw unauthorized();
  return secret;
}
