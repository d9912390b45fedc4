/** What a delivery says, whatever forge it is of: facts of branches and pull requests, and words about checks. */
import { ObservationKind, repositoryAddress } from '@muster/registry';
import { z } from 'zod';

/** A repository as a delivery names it. */
export interface NamedRepository {
  readonly externalId: string;
  readonly url: string;
  readonly fullName: string;
  readonly defaultBranch: string | null;
}

/** One fact, in the words of an observation, with all by which its execution may be found. It waits as JSON. */
export const Fact = z.object({
  kind: ObservationKind,
  /** By the forge's clock: ISO 8601 UTC with milliseconds. */
  at: z.string(),
  branch: z.string().nullable(),
  /** Of a merge the commit that it made; else the head. */
  sha: z.string().nullable(),
  /** The head that this one replaced, where the forge says it. */
  before: z.string().nullable().default(null),
  number: z.int().nullable(),
  url: z.string().nullable(),
  title: z.string().nullable(),
  /** The branch that a pull request is to go into. */
  base: z.string().nullable(),
  /** Of the repository, as this delivery says it. */
  defaultBranch: z.string().nullable(),
  /** The head is in another repository, where anybody may have made it. */
  isForeign: z.boolean(),
  /** Executions that its text names. */
  trailers: z.array(z.string()),
  /** The forge's id of a review's author, if the forge sends it. */
  reviewer: z.string().nullable().default(null),
  /** Numbers of pull requests and ids of merge commits that a merge reverts; merges only. */
  reverts: z.array(z.string()).optional(),
});
export type Fact = z.infer<typeof Fact>;

/** A word about one of the checks of a commit. */
export interface Check {
  /** By `check-names.ts`. */
  readonly name: string;
  readonly sha: string;
  /** The commit is a trial merge of this pull request: the check is about the pull request's head. */
  readonly trialOf?: number | undefined;
  readonly state: 'pending' | 'passed' | 'failed';
  readonly at: string;
}

/** What takes back merged work: a pull request that was merged, or commits that were pushed. */
export interface Revert {
  /** The branch that it is on. */
  readonly base: string | null;
  readonly defaultBranch: string | null;
  /** Of the pull request; null for commits. */
  readonly number: number | null;
  readonly url: string | null;
  /** Numbers of pull requests, and ids of the commits by which they were merged. */
  readonly reverts: readonly string[];
}

/** What is read of a delivery; `ignored` says why it says nothing. */
export type Reading =
  | {
      readonly repository: NamedRepository;
      readonly facts: readonly Fact[];
      readonly checks: readonly Check[];
      /** Commits of a push that revert merged work. */
      readonly revert?: Revert;
      /** The number of a pull request whose reviews changed. The delivery leaves out which of them count. */
      readonly reviewsOf?: number;
    }
  | { readonly ignored: string };

/** Reads one event of a forge; its payload is parsed JSON, and what does not fit throws a ZodError. */
export type Reader = (payload: unknown) => Reading;

/** What a forge sends: how each event is read, or why none of it matters. */
export type Translation = Readonly<Record<string, Reader | string>>;

/** Why much of what a forge sends is not read. */
export const ofBoard = 'it says nothing of the state of work';

export const words = (text: string): string[] => text.split(' ');

/** Events of which none is read, for the same reason. */
export const ignored = (reason: string, ...events: readonly string[]): Translation =>
  Object.fromEntries(events.map((event) => [event, reason]));

/** The same fact has the same key, whatever delivery it comes in. An answer that counts by itself has another. */
export const factKey = ({ kind, number, branch, sha, at, reviewer }: Fact, countsByItself = false): string =>
  [
    ...[kind, ...(countsByItself ? ['asked'] : []), number ?? branch ?? '', sha ?? '', at],
    ...(reviewer === null ? [] : [reviewer]),
  ]
    .join(' ')
    .slice(0, 255);

const forgeTime = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:[.,]\d+)?) ?(UTC|GMT|Z|[+-]\d\d(?::?\d\d)?)$/i;

function millisOf(value: string | number): number {
  if (typeof value === 'number') return value * 1_000;
  const [, date = '', time = '', zone = ''] = forgeTime.exec(value.trim()) ?? [];
  const offset = /^[+-]/.test(zone) ? zone.replace(':', '').padEnd(5, '0').replace(/(..)$/, ':$1') : 'Z';
  return Date.parse(`${date}T${time.replace(',', '.')}${offset}`);
}

const lastMillis = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A time as forges write it: ISO 8601, `2026-11-21 09:30:00 UTC` or `+0100` from GitLab, seconds since 1970 from GitHub's
 * pushes. Go writes the year 1 for a time that is not known; it becomes 1970, before all others.
 */
export const ForgeTime = z.union([z.string(), z.number()]).transform((value, context) => {
  const millis = millisOf(value);
  if (millis <= lastMillis) return new Date(Math.max(millis, 0)).toISOString();
  context.addIssue({ code: 'custom', message: 'is not a time' });
  return z.NEVER;
});

/** A URL of a repository as it is kept; one for ssh becomes that of the page. */
export const repositoryUrl = (url: string): string =>
  `${/^http:/i.test(url.trim()) ? 'http' : 'https'}://${repositoryAddress(url)}`;

/** A repository may have been linked with the other scheme. */
export const repositoryUrls = (url: string): string[] =>
  ['https', 'http'].map((scheme) => `${scheme}://${repositoryAddress(url)}`);
