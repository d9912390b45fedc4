/** Since when each page says what it says. */
import { createHash } from 'node:crypto';
import { dates } from './dates.generated.ts';
import { type Page } from './pages.ts';

/** By the path of a page: what it said, in brief, and the day on which that was written down first. */
export type PageDates = Readonly<Record<string, { readonly sha256: string; readonly since: string }>>;

/** The dates as they should be: a page whose text has changed since `known` says so from `today` on. */
export const datesOf = (pages: readonly Page[], known: PageDates, today: string): PageDates =>
  Object.fromEntries(
    pages.map(({ path, markdown }) => {
      const sha256 = createHash('sha256').update(markdown).digest('hex');
      const before = known[path];
      return [path, before?.sha256 === sha256 ? before : { sha256, since: today }];
    }),
  );

const newest = Object.values<{ since: string }>(dates).reduce(
  (latest, { since }) => (since > latest ? since : latest),
  '',
);

/** The day of a page's last change; of one that is about all others, that of the newest of them. */
export const lastModifiedOf = (path: string): string => (dates as PageDates)[path]?.since ?? newest;

/** As they are checked in. */
export const knownDates: PageDates = dates;
