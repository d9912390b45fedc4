/** The day of each page's last change. */
import { createHash } from 'node:crypto';
import { dates } from './dates.generated.ts';
import { type ReferencePage } from './pages.ts';

/** The digest of each page's text and the day on which that text was first recorded, by path. */
export type PageDates = Readonly<Record<string, { readonly sha256: string; readonly since: string }>>;

/** Returns the updated dates. A page whose text differs from `known` gets the date `today`. */
export const updatePageDates = (
  pages: readonly ReferencePage[],
  previousDates: PageDates,
  today: string,
): PageDates =>
  Object.fromEntries(
    pages.map(({ path, markdown }) => {
      const sha256 = createHash('sha256').update(markdown).digest('hex');
      const before = previousDates[path];
      return [path, before?.sha256 === sha256 ? before : { sha256, since: today }];
    }),
  );

const newestDate = Object.values<{ since: string }>(dates).reduce(
  (latest, { since }) => (since > latest ? since : latest),
  '',
);

/** Returns the day of a page's last change. An index page gets the newest day of all pages. */
export const lastModifiedOf = (path: string): string => (dates as PageDates)[path]?.since ?? newestDate;

/** The dates of the pages in the file that is checked in. */
export const knownDates: PageDates = dates;
