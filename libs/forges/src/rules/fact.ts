/**
 * The content of a delivery in a common format for all forges: facts about branches and pull requests, and
 * check reports.
 */
import { ObservationKind, repositoryAddress } from '@muster/contract';
import { z } from 'zod';

/** A repository as a delivery names it. */
export interface NamedRepository {
  readonly externalId: string;
  readonly url: string;
  readonly fullName: string;
  readonly defaultBranch: string | null;
}

/**
 * A fact about work, with the values of an observation and all values by which its execution may be found.
 * Parked facts are stored as JSON.
 */
export const DeliveryFact = z.object({
  kind: ObservationKind,
  /** The time of the event by the forge's clock: ISO 8601 UTC with milliseconds. */
  at: z.string(),
  branch: z.string().nullable(),
  /** The merge commit if the fact is a merge, otherwise the head. */
  sha: z.string().nullable(),
  /** The head that this fact's head replaced, if the forge reports it. */
  before: z.string().nullable().default(null),
  number: z.int().nullable(),
  url: z.string().nullable(),
  title: z.string().nullable(),
  /** The target branch of a pull request. */
  base: z.string().nullable(),
  /** The repository's default branch according to this delivery. */
  defaultBranch: z.string().nullable(),
  /** True if the head is in another repository, where anyone may have created it. */
  isForeign: z.boolean(),
  /** The ids of executions that the trailers of the fact's commits or description name. */
  trailers: z.array(z.string()),
  /** The forge's id of a review's author, if the forge sends it. */
  reviewer: z.string().nullable().default(null),
  /** The numbers of pull requests and the ids of merge commits that a merge reverts; only for merges. */
  revertedReferences: z.array(z.string()).optional(),
});
export type DeliveryFact = z.infer<typeof DeliveryFact>;

/** A report about one of the checks of a commit. */
export interface CommitCheck {
  /** The name under which the check is stored. The functions in `check-names.ts` create these names. */
  readonly name: string;
  readonly sha: string;
  /**
   * The number of a pull request if the commit is a trial merge of it. The check then counts for the pull
   * request's head.
   */
  readonly trialOf?: number | undefined;
  readonly state: 'pending' | 'passed' | 'failed';
  readonly at: string;
}

/** A revert of merged work: a merged pull request, or pushed commits. */
export interface Revert {
  /** The branch that contains the revert. */
  readonly base: string | null;
  readonly defaultBranch: string | null;
  /** The number of the pull request; null for commits. */
  readonly number: number | null;
  readonly url: string | null;
  /** The numbers of the reverted pull requests, and the ids of their merge commits. */
  readonly reverts: readonly string[];
}

/** The content of a delivery. `ignored` gives the reason why it contains nothing relevant. */
export type DeliveryContent =
  | {
      readonly repository: NamedRepository;
      readonly facts: readonly DeliveryFact[];
      readonly checks: readonly CommitCheck[];
      /** The commits of a push that revert merged work. */
      readonly revert?: Revert;
      /**
       * The number of a pull request whose reviews changed. The delivery does not say which of them count.
       */
      readonly reviewsOfPullNumber?: number;
    }
  | { readonly ignored: string };

/** Reads one event of a forge from parsed JSON. Throws a ZodError for an invalid payload. */
export type ForgeEventReader = (payload: unknown) => DeliveryContent;

/** The events of a forge, each with its reader or the reason why it is ignored. */
export type EventReaders = Readonly<Record<string, ForgeEventReader | string>>;

/** The reason why most events are ignored: they do not concern work. */
export const irrelevantEventReason = 'it has no information about the state of work';

export const splitWords = (text: string): string[] => text.split(' ');

/** Creates entries for events that are ignored for the same reason. */
export const ignoredEvents = (reason: string, ...events: readonly string[]): EventReaders =>
  Object.fromEntries(events.map((event) => [event, reason]));

/**
 * Returns the key of a fact, which is the same in every delivery of that fact. With `isFromPoll`, the key
 * differs from that of all deliveries.
 */
export const factKey = (
  { kind, number, branch, sha, at, reviewer }: DeliveryFact,
  isFromPoll = false,
): string =>
  [
    ...[kind, ...(isFromPoll ? ['asked'] : []), number ?? branch ?? '', sha ?? '', at],
    ...(reviewer === null ? [] : [reviewer]),
  ]
    .join(' ')
    .slice(0, 255);

const forgeTimePattern =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:[.,]\d+)?) ?(UTC|GMT|Z|[+-]\d\d(?::?\d\d)?)$/i;

function parseForgeTimeMs(value: string | number): number {
  if (typeof value === 'number') return value * 1_000;
  const [, date = '', time = '', zone = ''] = forgeTimePattern.exec(value.trim()) ?? [];
  const offset = /^[+-]/.test(zone) ? zone.replace(':', '').padEnd(5, '0').replace(/(..)$/, ':$1') : 'Z';
  return Date.parse(`${date}T${time.replace(',', '.')}${offset}`);
}

const maxTimeMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A time in the notations of forges: ISO 8601, `2026-11-21 09:30:00 UTC` or `+0100` at GitLab, and seconds
 * since 1970 in pushes at GitHub. Go writes the year 1 for an unknown time, which becomes 1970, before all
 * others.
 */
export const ForgeTime = z.union([z.string(), z.number()]).transform((value, context) => {
  const millis = parseForgeTimeMs(value);
  if (millis <= maxTimeMs) return new Date(Math.max(millis, 0)).toISOString();
  context.addIssue({ code: 'custom', message: 'is not a valid time' });
  return z.NEVER;
});

/**
 * Converts the URL of a repository to its stored form. An ssh address is converted to the URL of the
 * repository's web page.
 */
export const normalizeRepositoryUrl = (url: string): string =>
  `${/^http:/i.test(url.trim()) ? 'http' : 'https'}://${repositoryAddress(url)}`;

/** Returns the URL with both schemes, because the repository may have been linked with the other one. */
export const repositoryUrls = (url: string): string[] =>
  ['https', 'http'].map((scheme) => `${scheme}://${repositoryAddress(url)}`);
