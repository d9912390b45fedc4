/** Files with standardized names, which programs look for. */
import { setImmediate } from 'node:timers/promises';
import { interfaceVersion, productVersion, scopes } from '@muster/contract';
import { productDescription, type Addresses, mcpUrlOf } from './addresses.ts';
import { type SitePage } from './site.ts';

/** Writes llms.txt (https://llmstxt.org): a title, a summary, and lists of described links. */
export function llmsText({ baseUrl, docsUrl }: Addresses, pages: readonly SitePage[]): string {
  const link = ({ path, title, summary }: SitePage): string => `- [${title}](${baseUrl}${path}): ${summary}`;
  const reference = pages.filter(({ path }) => path.startsWith('/reference'));
  return [
    '# Muster',
    `> ${productDescription} Every operation is POST {namespace}/{operation} with JSON and a bearer token.`,
    `API version ${interfaceVersion}.`,
    'Request any page below with `Accept: text/markdown` to get it as Markdown.',
    ...(docsUrl === null
      ? []
      : ['## Guides', `- [Guides](${docsUrl}): first steps, concepts, how to run it`]),
    '## Reference',
    reference.map(link).join('\n'),
    '## Optional',
    `- [OpenAPI](${baseUrl}/openapi.json): the reference for code generators\n- [All in one](${baseUrl}/llms-full.txt): every page of the reference`,
    '',
  ].join('\n\n');
}

/**
 * Concatenates all pages, for readers that fetch only once. It yields between pages, so that other requests
 * are served.
 */
export async function llmsFullText(pages: readonly SitePage[]): Promise<string> {
  const parts: string[] = [];
  for (const { markdown } of pages) {
    parts.push(markdown());
    await setImmediate();
  }
  return parts.join('\n\n');
}

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Writes the sitemap (https://www.sitemaps.org); lastmod is the day of a page's last change. */
export const sitemapXml = ({ baseUrl }: Addresses, pages: readonly SitePage[]): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...pages.map(
      ({ path, lastModified }) =>
        `<url><loc>${escapeXml(`${baseUrl}${path}`)}</loc><lastmod>${lastModified}</lastmod></url>`,
    ),
    '</urlset>',
    '',
  ].join('\n');

/** Writes robots.txt (RFC 9309). Paths that require a token are not to be crawled. */
export const robotsText = ({ baseUrl }: Addresses): string =>
  ['User-agent: *', 'Disallow: /api/', 'Allow: /', `Sitemap: ${baseUrl}/sitemap.xml`, ''].join('\n');

/** Describes the MCP endpoint. Without a mode, it lists the core tools and accepts calls of all. */
const mcpToolsOf = (url: string | null): unknown => ({
  ...{ protocol: 'mcp', transport: 'streamable-http', url },
  ...(url !== null && {
    listed: 'core',
    callable: 'all',
    modes: { core: `${url}?mode=core`, search: `${url}?mode=search`, full: `${url}?mode=full` },
  }),
});

/** Lists the URLs of everything, for a program that knows only the API's address. */
export function agentsJson(addresses: Addresses): unknown {
  const { baseUrl, docsUrl, licenseUrl } = addresses;
  return {
    name: 'Muster',
    description: productDescription,
    version: interfaceVersion,
    productVersion,
    api: {
      baseUrl,
      openapi: `${baseUrl}/openapi.json`,
      dispatcher: `${baseUrl}/api/query`,
      reference: `${baseUrl}/reference`,
    },
    tools: mcpToolsOf(mcpUrlOf(addresses)),
    authentication: {
      type: 'http',
      scheme: 'bearer',
      header: 'Authorization',
      scopes,
      description: 'A token of a member, or of an agent of that member, begins with must_',
    },
    contentNegotiation: {
      pages: ['text/html', 'text/markdown', 'application/json'],
      operations: ['application/json'],
    },
    licenses:
      licenseUrl === null
        ? null
        : {
            openapi: `${licenseUrl}/openapi.json`,
            activate: `${licenseUrl}/api/activate`,
            check: `${licenseUrl}/api/activate/check`,
            keys: `${licenseUrl}/.well-known/license-keys.json`,
          },
    documentation: { guides: docsUrl, llms: `${baseUrl}/llms.txt`, full: `${baseUrl}/llms-full.txt` },
  };
}

const dayMillis = 86_400_000;

/** Writes security.txt (RFC 9116), which must not be valid for more than a year. */
export const securityText = (baseUrl: string, contact: string, now = new Date()): string =>
  [
    `Contact: ${contact}`,
    `Expires: ${new Date(now.getTime() + 180 * dayMillis).toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
