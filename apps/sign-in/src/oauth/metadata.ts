/**
 * Protected resource metadata (RFC 9728): tells clients which authorization server issues tokens for a
 * resource.
 */
import { protectedResourcePath } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { resourceUrlsOf } from './provider.ts';

/**
 * The scopes that the document advertises, which most clients request. Clients must request `admin`
 * explicitly.
 */
const advertisedScopes = ['read', 'write'];

/** Longer queries are ignored, because no valid restriction is that long. */
const maxQueryChars = 2_000;

export function addResourceMetadata(app: FastifyInstance, baseUrl: string): void {
  const { mcp, api } = resourceUrlsOf(baseUrl);
  const send = (reply: FastifyReply, resource: string): FastifyReply =>
    reply
      .header('content-type', 'application/json; charset=utf-8')
      // Web pages may read it too, because it contains no secret.
      .header('access-control-allow-origin', '*')
      .header('cache-control', 'public, max-age=300')
      .send(
        JSON.stringify({
          ...{ resource, authorization_servers: [baseUrl], scopes_supported: advertisedScopes },
          ...{ bearer_methods_supported: ['header'], resource_name: 'Muster' },
          ...(resource !== api && {
            mcp_tools: { listed: 'core', callable: 'all', all: `${mcp}?mode=full` },
          }),
        }),
      );
  /**
   * Names the resource by the requested URL, including restrictions in it, because clients compare it with
   * the URL that they were given.
   */
  const named = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { pathname, search } = new URL(request.url.slice(protectedResourcePath.length), baseUrl);
    const query = search.length > maxQueryChars ? '' : search;
    return send(reply, `${baseUrl}${pathname}${query}`);
  };
  app.get(`${protectedResourcePath}${new URL(mcp).pathname}`, named);
  app.get(`${protectedResourcePath}${new URL(mcp).pathname}/*`, named);
  app.get(`${protectedResourcePath}${new URL(api).pathname}`, (_request, reply) => send(reply, api));
  // The root path is for clients that do not append the resource's path.
  app.get(protectedResourcePath, (_request, reply) => send(reply, mcp));
}
