/** What clients read before they ask: where tokens for a resource of ours come from (RFC 9728). */
import { protectedResourcePath } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { resourcesOf } from './provider.ts';

/** What most clients ask for: all that a document names. Administration is asked for by name alone. */
const usualScopes = ['read', 'write'];

/** Longer addresses than this narrow nothing. */
const mostQuery = 2_000;

export function addResourceMetadata(app: FastifyInstance, baseUrl: string): void {
  const { mcp, api } = resourcesOf(baseUrl);
  const send = (reply: FastifyReply, resource: string): FastifyReply =>
    reply
      .header('content-type', 'application/json; charset=utf-8')
      // Pages read it too; it has no secret.
      .header('access-control-allow-origin', '*')
      .header('cache-control', 'public, max-age=300')
      .send(
        JSON.stringify({
          ...{ resource, authorization_servers: [baseUrl], scopes_supported: usualScopes },
          ...{ bearer_methods_supported: ['header'], resource_name: 'Muster' },
          ...(resource !== api && {
            mcp_tools: { listed: 'core', callable: 'all', all: `${mcp}?mode=full` },
          }),
        }),
      );
  /** Names the resource as it was asked for, with what narrows it: clients hold it to the address that they were given. */
  const named = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { pathname, search } = new URL(request.url.slice(protectedResourcePath.length), baseUrl);
    const query = search.length > mostQuery ? '' : search;
    return send(reply, `${baseUrl}${pathname}${query}`);
  };
  app.get(`${protectedResourcePath}${new URL(mcp).pathname}`, named);
  app.get(`${protectedResourcePath}${new URL(mcp).pathname}/*`, named);
  app.get(`${protectedResourcePath}${new URL(api).pathname}`, (_request, reply) => send(reply, api));
  // For clients that do not look below.
  app.get(protectedResourcePath, (_request, reply) => send(reply, mcp));
}
