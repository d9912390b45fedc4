/**
 * Documents by which MCP clients find the MCP server before they connect: a Server Card (SEP-2127, at the
 * address that its specification reserves) and an AI Catalog that names it.
 */
import { productVersion } from '@muster/registry';
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

/** Describes the MCP server at `url`. Clients learn its tools from the server itself. */
const serverCard = ({ baseUrl, docsUrl }: Addresses, url: string): unknown => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
  name: `${reverseHost(new URL(baseUrl).hostname)}/muster`,
  title: 'Muster',
  description: productDescription,
  version: productVersion,
  ...(docsUrl !== null && { websiteUrl: docsUrl }),
  remotes: [url, `${url}?mode=full`].map((remote) => ({ type: 'streamable-http', url: remote })),
});

/** Lists the MCP server of this host. */
const aiCatalog = ({ baseUrl }: Addresses): unknown => ({
  specVersion: '1.0',
  entries: [
    {
      identifier: `urn:air:${new URL(baseUrl).hostname.replaceAll(':', '-')}:mcp:muster`,
      type: 'application/mcp-server-card+json',
      url: `${baseUrl}${serverCardPath}`,
    },
  ],
});

/** Returns the media type and the text of each document by path, or none if there is no MCP server. */
export function mcpDocuments(addresses: Addresses): Readonly<Record<string, readonly [string, string]>> {
  const url = mcpUrlOf(addresses);
  if (url === null) return {};
  return {
    [serverCardPath]: ['application/mcp-server-card+json', JSON.stringify(serverCard(addresses, url))],
    '/.well-known/ai-catalog.json': ['application/ai-catalog+json', JSON.stringify(aiCatalog(addresses))],
  };
}
