/**
 * Documents by which clients find the servers of this host before they connect: a Server Card for MCP
 * (SEP-2127, at the address that its specification reserves), an agent card for A2A, and an AI Catalog that
 * names both.
 */
import { productVersion } from '@muster/contract';
import { a2aPath } from '../mcp.ts';
import { productDescription, type Addresses, mcpUrlOf } from './addresses.ts';

export const serverCardPath = '/api/mcp/server-card';

/** Public documents that any page may read (docs/discovery.md of the Server Card extension). */
export const publicDocumentHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
  'cache-control': 'public, max-age=3600',
};

/** Reverses a host name, as names of MCP servers need it: `muster.example.com` becomes `com.example.muster`. */
const reverseHost = (host: string): string =>
  /^[\d.]+$|:/.test(host) ? 'local' : host.split('.').toReversed().join('.');

const serverJsonPath = '/api/mcp/server.json';

/**
 * Describes the MCP server at `url`: as a Server Card, or as the server.json that registries of MCP servers
 * take. Clients learn its tools from the server itself.
 */
const describeMcpServer = (
  schema: string,
  { baseUrl, docsUrl, mcpNamespace }: Addresses,
  url: string,
): unknown => ({
  $schema: `https://static.modelcontextprotocol.io/schemas/${schema}.schema.json`,
  name: `${mcpNamespace ?? reverseHost(new URL(baseUrl).hostname)}/muster`,
  title: 'Muster',
  description: productDescription,
  version: productVersion,
  ...(docsUrl !== null && { websiteUrl: docsUrl }),
  remotes: [url, `${url}?mode=full`].map((remote) => ({ type: 'streamable-http', url: remote })),
});

const agentCardPath = '/.well-known/agent-card.json';

/** Describes the A2A endpoint. The fields are those of A2A 1.0. */
const agentCard = ({ baseUrl, docsUrl }: Addresses): unknown => ({
  name: 'Muster',
  description:
    'Takes work on a codebase: each task becomes a story, which agents or people of the organization implement, review and merge.',
  version: productVersion,
  supportedInterfaces: [{ url: `${baseUrl}${a2aPath}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  ...(docsUrl !== null && { documentationUrl: `${docsUrl}/guides/a2a` }),
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: {
    token: {
      httpAuthSecurityScheme: {
        scheme: 'Bearer',
        description: 'An access token of a Muster member or agent',
      },
    },
  },
  securityRequirements: [{ schemes: { token: { list: [] } } }],
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json', 'text/html'],
  skills: [
    {
      id: 'implement',
      name: 'Implement a change',
      description:
        'Creates a story from the message. metadata.projectId names its project, metadata.agentId the agent that should start it.',
      tags: ['coding', 'project management', 'code review'],
      examples: ['Add a retry with backoff to the payment client, with tests.'],
    },
  ],
});

/** Lists the servers of this host. */
const aiCatalog = ({ baseUrl }: Addresses): unknown => {
  const urn = (kind: string): string =>
    `urn:air:${new URL(baseUrl).hostname.replaceAll(':', '-')}:${kind}:muster`;
  return {
    specVersion: '1.0',
    entries: [
      {
        identifier: urn('mcp'),
        type: 'application/mcp-server-card+json',
        url: `${baseUrl}${serverCardPath}`,
      },
      { identifier: urn('a2a'), type: 'application/a2a-agent-card+json', url: `${baseUrl}${agentCardPath}` },
    ],
  };
};

/** Returns the media type and the text of each document by path, or none if there is no gateway. */
export function mcpDocuments(addresses: Addresses): Readonly<Record<string, readonly [string, string]>> {
  const url = mcpUrlOf(addresses);
  if (url === null) return {};
  return {
    [serverCardPath]: [
      'application/mcp-server-card+json',
      JSON.stringify(describeMcpServer('v1/server-card', addresses, url)),
    ],
    [serverJsonPath]: [
      'application/json',
      JSON.stringify(describeMcpServer('2025-12-11/server', addresses, url)),
    ],
    [agentCardPath]: ['application/json', JSON.stringify(agentCard(addresses))],
    '/.well-known/ai-catalog.json': ['application/ai-catalog+json', JSON.stringify(aiCatalog(addresses))],
  };
}
