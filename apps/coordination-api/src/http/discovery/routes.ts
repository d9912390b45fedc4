/** Serves the pages and files by which people, models and programs discover what this API can do. */
import accepts from '@fastify/accepts';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { buildOpenApi } from '../openapi.ts';
import { type Addresses } from './addresses.ts';
import { agentsJson, llmsFullText, llmsText, robotsText, securityText, sitemapXml } from './files.ts';
import { mcpDocuments, publicDocumentHeaders } from './server-card.ts';
import {
  buildSite,
  type PageMediaType,
  pageMediaTypes,
  cacheResult,
  plainRendering,
  type Rendering,
} from './site.ts';

/** Browsers and proxies may cache a response for this long before they revalidate it. */
const cacheControl = 'public, max-age=300';

async function sendRendering(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, body, etag: plainTag, gzipped }: Rendering,
  { vary, ...extraHeaders }: Readonly<Record<string, string>> = {},
): Promise<FastifyReply> {
  const isGzipped = request.accepts().encoding(['gzip', 'identity']) === 'gzip';
  const etag = isGzipped ? plainTag.replace(/"$/, '-gzip"') : plainTag;
  reply.headers({
    ...{ ...headers, 'cache-control': cacheControl, etag, ...extraHeaders },
    vary: [vary, 'Accept-Encoding'].filter((name) => name !== undefined).join(', '),
  });
  const known = request.headers['if-none-match'];
  const isKnown = known === '*' || known?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
  if (isKnown === true) return reply.code(304).send();
  return isGzipped ? reply.header('content-encoding', 'gzip').send(await gzipped()) : reply.send(body);
}

/** Negotiates the form. `*​/*` and a missing Accept header give HTML, the first form. */
const negotiateMediaType = (request: FastifyRequest): PageMediaType => {
  const wanted = request.accepts().type([...pageMediaTypes]);
  return pageMediaTypes.find((form) => form === wanted) ?? 'text/html';
};

export async function addDiscoveryRoutes(app: FastifyInstance, addresses: Addresses): Promise<void> {
  await app.register(accepts);
  const pages = buildSite(addresses);
  for (const { path, render, lastModified } of pages)
    app.get(path, (request, reply) => {
      const facts = { 'last-modified': new Date(lastModified).toUTCString(), vary: 'Accept' };
      return sendRendering(request, reply, render(negotiateMediaType(request)), facts);
    });
  const { securityContact } = addresses;
  if (securityContact !== null)
    app.get('/.well-known/security.txt', async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send(securityText(addresses.baseUrl, securityContact)),
    );
  const files: Readonly<Record<string, readonly [type: string, text: () => string | Promise<string>]>> = {
    '/openapi.json': ['application/json', () => JSON.stringify(buildOpenApi(addresses))],
    '/llms.txt': ['text/plain', () => llmsText(addresses, pages)],
    '/llms-full.txt': ['text/plain', () => llmsFullText(pages)],
    '/sitemap.xml': ['application/xml', () => sitemapXml(addresses, pages)],
    '/robots.txt': ['text/plain', () => robotsText(addresses)],
    '/.well-known/agents.json': ['application/json', () => JSON.stringify(agentsJson(addresses))],
  };
  for (const [path, [type, text]] of Object.entries(files)) {
    const file = cacheResult(async () => plainRendering(type, await text()));
    app.get(path, async (request, reply) => sendRendering(request, reply, await file()));
  }
  for (const [path, [type, text]] of Object.entries(mcpDocuments(addresses))) {
    const file = plainRendering(type, text);
    const config = { cors: false } as const;
    app.get(path, { config }, (request, reply) => sendRendering(request, reply, file, publicDocumentHeaders));
    app.options(path, { config }, async (_request, reply) =>
      reply.code(204).headers(publicDocumentHeaders).send(),
    );
  }
}
