/** What a delivery says, whatever forge it is of: facts of branches and pull requests, and words about checks. */
import { ObservationKind } from '@muster/registry';
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
});
export type Fact = z.infer<typeof Fact>;

/** A word about one of the checks of a commit. */
export interface Check {
  readonly name: string;
  readonly sha: string;
  readonly state: 'pending' | 'passed' | 'failed';
  readonly at: string;
}

/** What is read of a delivery; `ignored` says why it says nothing. */
export type Reading =
  | {
      readonly repository: NamedRepository;
      readonly facts: readonly Fact[];
      readonly checks: readonly Check[];
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

const trailer =
  /^[ \t]*Muster-Execution:[ \t]*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[ \t]*$/gim;
const mostTrailers = 10;

/** The executions that `Muster-Execution: <id>` names, each on a line of its own. */
export function trailersIn(...texts: readonly (string | null | undefined)[]): string[] {
  const found = texts.flatMap((text) =>
    [...(text ?? '').matchAll(trailer)].map(([, id = '']) => id.toLowerCase()),
  );
  return [...new Set(found)].slice(0, mostTrailers);
}

/** The same fact has the same key, whatever delivery it comes in. */
export const factKey = ({ kind, number, branch, sha, at }: Fact): string =>
  [kind, number ?? branch ?? '', sha ?? '', at].join(' ').slice(0, 255);

/** A time as forges write it; GitLab also writes `2026-11-21 09:30:00 UTC`, and pushes have seconds. */
export const ForgeTime = z.union([z.string(), z.int()]).transform((value, context) => {
  const time =
    typeof value === 'number' ? value * 1_000 : Date.parse(value.replace(/ UTC$/, 'Z').replace(' ', 'T'));
  if (Number.isFinite(time)) return new Date(time).toISOString();
  context.addIssue({ code: 'custom', message: 'is no time' });
  return z.NEVER;
});

/** A URL of a repository as it is compared: the same repository has the same one. */
export const repositoryUrl = (url: string): string =>
  url
    .trim()
    .toLowerCase()
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
