/** The pages that the API has of itself: what it is, and the reference of every operation, each in three forms. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type RenderedPage } from '@muster/http';
import { lastModifiedOf, type Page, referencePages } from '@muster/reference';
import { htmlPage } from './layout.ts';
import { homePage } from './home.ts';
import { type Addresses } from './addresses.ts';

export const forms = ['text/html', 'text/markdown', 'application/json'] as const;
export type Form = (typeof forms)[number];

export interface Rendering {
  /** Of this form alone. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly etag: string;
  /** The same in a seventh of the bytes, made when it is first wanted. */
  readonly gzipped: () => Promise<Buffer>;
}

const compress = promisify(gzip);

/** A page as it is served. */
export interface SitePage {
  /** Such as `/reference/stories`. */
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: () => string;
  /** A day, such as 2026-11-21: since then it says the same. */
  readonly lastModified: string;
  readonly render: (form: Form) => Rendering;
}

const rendering = ({ headers, body }: RenderedPage): Rendering => ({
  ...{ headers, body },
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
  gzipped: once(() => compress(body)),
});

export const plain = (type: string, body: string): Rendering =>
  rendering({ headers: { 'content-type': `${type}; charset=utf-8` }, body });

/** The same answer from the second time on. */
export function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Each page is rendered once, when it is first wanted: all of them take longer than the whole start may. */
export function buildSite(addresses: Addresses): readonly SitePage[] {
  const reference = referencePages();
  const toSitePage = (page: Page): SitePage => {
    const { path, title, summary } = page;
    const renderings: Readonly<Record<Form, () => Rendering>> = {
      'text/html': once(() => rendering(htmlPage(page))),
      'text/markdown': once(() => plain('text/markdown', page.markdown)),
      'application/json': once(() => plain('application/json', JSON.stringify(page.json))),
    };
    return {
      ...{ path: `/${path}`, title, summary, lastModified: lastModifiedOf(path) },
      markdown: () => page.markdown,
      render: (form) => renderings[form](),
    };
  };
  return [homePage(addresses, reference), ...reference].map(toSitePage);
}
