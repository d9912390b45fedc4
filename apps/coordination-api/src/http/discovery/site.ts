/** The pages that the API has of itself: what it is, and the reference of every operation, each in three forms. */
import { createHash } from 'node:crypto';
import { lastModifiedOf, type Page, referencePages } from '@muster/reference';
import { htmlPage } from './layout.ts';
import { homePage } from './home.ts';
import { type Addresses } from './addresses.ts';

export const forms = ['text/html', 'text/markdown', 'application/json'] as const;
export type Form = (typeof forms)[number];

export interface Rendering {
  readonly body: string;
  readonly etag: string;
}

/** A page as it is served. */
export interface SitePage {
  /** Such as `/reference/stories`. */
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
  /** A day, such as 2026-11-21: since then it says the same. */
  readonly lastModified: string;
  readonly renderings: Readonly<Record<Form, Rendering>>;
}

export const rendering = (body: string): Rendering => ({
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
});

/** Everything is rendered once, at start-up. */
export function buildSite(addresses: Addresses): readonly SitePage[] {
  const reference = referencePages();
  const toSitePage = ({ path, title, summary, markdown, json }: Page): SitePage => ({
    ...{ path: `/${path}`, title, summary, markdown, lastModified: lastModifiedOf(path) },
    renderings: {
      'text/html': rendering(htmlPage({ title, summary, markdown })),
      'text/markdown': rendering(markdown),
      'application/json': rendering(JSON.stringify(json)),
    },
  });
  return [homePage(addresses, reference), ...reference].map(toSitePage);
}
