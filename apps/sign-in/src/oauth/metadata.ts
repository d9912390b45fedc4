/** What clients read before they ask: where tokens for a resource of ours come from (RFC 9728). */
import { protectedResourcePath } from '@muster/http';
import { type FastifyInstance, type FastifyReply } from 'fastify';
import { resourcesOf } from './provider.ts';

/** What most clients ask for: all that a document names. Administration is asked for by name alone. */
const usualScopes = ['read', 'write'];

export function addResourceMetadata(app: FastifyInstance, baseUrl: string): void {
  const resources = resourcesOf(baseUrl);
  const metadataOf = (resource: string) =>
    JSON.stringify({
      ...{ resource, authorization_servers: [baseUrl], scopes_supported: usualScopes },
      ...{ bearer_methods_supported: ['header'], resource_name: 'Muster' },
    });
  const send = (reply: FastifyReply, text: string): FastifyReply =>
    reply
      .header('content-type', 'application/json; charset=utf-8')
      // Pages read it too; it has no secret.
      .header('access-control-allow-origin', '*')
      .header('cache-control', 'public, max-age=300')
      .send(text);
  for (const resource of [resources.mcp, resources.api]) {
    const text = metadataOf(resource);
    app.get(`${protectedResourcePath}${new URL(resource).pathname}`, (_request, reply) => send(reply, text));
  }
  // For clients that do not look below.
  const usual = metadataOf(resources.mcp);
  app.get(protectedResourcePath, (_request, reply) => send(reply, usual));
}
