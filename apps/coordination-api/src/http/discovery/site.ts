/** The API's own pages: the home page and the reference of every operation, each in three forms. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type RenderedPage } from '@muster/http';
import { lastModifiedOf, type ReferencePage, referencePages } from '@muster/reference';
import { renderHtmlPage } from './layout.ts';
import { createHomePage } from './home.ts';
import { type Addresses } from './addresses.ts';

export const pageMediaTypes = ['text/html', 'text/markdown', 'application/json'] as const;
export type PageMediaType = (typeof pageMediaTypes)[number];

export interface Rendering {
  /** The response headers of this form of the page. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly etag: string;
  /** Compresses the body with gzip on first use, to about a seventh of its size. */
  readonly gzipped: () => Promise<Buffer>;
}

const compress = promisify(gzip);

/** A page as it is served. */
export interface SitePage {
  /** The path, such as `/reference/stories`. */
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: () => string;
  /** The day of the last change, such as 2026-11-21. */
  readonly lastModified: string;
  readonly render: (form: PageMediaType) => Rendering;
}

const withEtagAndGzip = ({ headers, body }: RenderedPage): Rendering => ({
  ...{ headers, body },
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
  gzipped: cacheResult(() => compress(body)),
});

export const plainRendering = (type: string, body: string): Rendering =>
  withEtagAndGzip({ headers: { 'content-type': `${type}; charset=utf-8` }, body });

/** Caches the result of the first call. */
export function cacheResult<Made>(compute: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => (made ??= { value: compute() }).value;
}

/**
 * Builds all pages. Each is rendered on first use, because rendering all of them would take too long at
 * startup.
 */
export function buildSite(addresses: Addresses): readonly SitePage[] {
  const reference = referencePages();
  const toSitePage = (page: ReferencePage): SitePage => {
    const { path, title, summary } = page;
    const renderings: Readonly<Record<PageMediaType, () => Rendering>> = {
      'text/html': cacheResult(() => withEtagAndGzip(renderHtmlPage(page))),
      'text/markdown': cacheResult(() => plainRendering('text/markdown', page.markdown)),
      'application/json': cacheResult(() => plainRendering('application/json', JSON.stringify(page.json))),
    };
    return {
      ...{ path: `/${path}`, title, summary, lastModified: lastModifiedOf(path) },
      markdown: () => page.markdown,
      render: (form) => renderings[form](),
    };
  };
  return [createHomePage(addresses, reference), ...reference].map(toSitePage);
}
