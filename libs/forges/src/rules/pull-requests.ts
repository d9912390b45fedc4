/** Pull requests in the nearly identical formats of GitHub, Gitea and Forgejo. */
import { type ObservationKind } from '@muster/registry';
import { z } from 'zod';
import { statusName } from './check-names.ts';
import {
  type DeliveryFact,
  ForgeTime,
  type NamedRepository,
  type DeliveryContent,
  type Revert,
} from './fact.ts';
import { revertsIn, revertsOfPush } from './reverts.ts';
import { isOfOthersWork, isQueueBranch, trailersOfCommits, trailersOfPull } from './trailers.ts';

export const Repository = z.object({
  id: z.int(),
  html_url: z.string(),
  full_name: z.string(),
  default_branch: z.string().nullish(),
});

const Side = z.object({
  ref: z.string(),
  sha: z.string().nullish(),
  /**
   * The id of the repository. Gitea may send this field without `repo`. Both are missing if the repository
   * was deleted.
   */
  repo_id: z.int().nullish(),
  repo: z.object({ id: z.int() }).nullish(),
});

export const PullRequest = z.object({
  number: z.int(),
  html_url: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  head: Side,
  base: Side,
  state: z.string().nullish(),
  merged: z.boolean().nullish(),
  merge_commit_sha: z.string().nullish(),
  mergeable_state: z.string().nullish(),
  created_at: ForgeTime,
  updated_at: ForgeTime,
  closed_at: ForgeTime.nullish(),
  merged_at: ForgeTime.nullish(),
});
export type PullRequest = z.infer<typeof PullRequest>;

/** An event about a pull request. */
export const PullRequestEvent = z.object({
  action: z.string(),
  /** The head before a push, in GitHub's events. */
  before: z.string().nullish(),
  pull_request: PullRequest,
  repository: Repository,
});

export const named = (repository: z.infer<typeof Repository>): NamedRepository => ({
  externalId: String(repository.id),
  url: repository.html_url,
  fullName: repository.full_name,
  defaultBranch: repository.default_branch ?? null,
});

/** Reads a repository. Throws a ZodError if the payload is invalid. */
export const readRepository = (payload: unknown): NamedRepository => named(Repository.parse(payload));

const repositoryOf = ({ repo, repo_id: id }: z.infer<typeof Side>): number | undefined =>
  repo?.id ?? id ?? undefined;

/** Creates a fact about a pull request. */
export function factOf(
  pull: PullRequest,
  repository: z.infer<typeof Repository>,
  {
    kind,
    at,
    sha,
    reviewer,
  }: {
    readonly kind: ObservationKind;
    readonly at: string;
    readonly sha?: string | null;
    readonly reviewer?: number | undefined;
  },
): DeliveryFact {
  return {
    ...{ kind, at },
    branch: pull.head.ref,
    sha: sha === undefined ? (pull.head.sha ?? null) : sha,
    before: null,
    number: pull.number,
    url: pull.html_url,
    title: pull.title,
    base: pull.base.ref,
    defaultBranch: repository.default_branch ?? null,
    isForeign: repositoryOf(pull.head) !== repository.id,
    trailers: isOfOthersWork(pull.head.ref) ? [] : trailersOfPull(pull.body),
    reviewer: reviewer === undefined ? null : String(reviewer),
  };
}

/** The change that an event reports about a pull request. */
export type PullAction = 'opened' | 'updated' | 'reopened' | 'closed';

/** Returns the facts of an action on a pull request. A closed pull request can be edited and stays closed. */
export function factsOf(
  pull: PullRequest,
  repository: z.infer<typeof Repository>,
  told: PullAction,
): DeliveryFact[] {
  const action = told === 'updated' && pull.state === 'closed' ? 'closed' : told;
  const isMerged = action === 'closed' && pull.merged === true;
  if (isMerged) {
    const at = pull.merged_at ?? pull.closed_at ?? pull.updated_at;
    const fact = factOf(pull, repository, { kind: 'pr_merged', at, sha: pull.merge_commit_sha ?? null });
    return [{ ...fact, reverts: revertsIn(pull.body, repository.full_name) }];
  }
  const times = {
    opened: pull.created_at,
    updated: pull.updated_at,
    reopened: pull.updated_at,
    closed: pull.closed_at ?? pull.updated_at,
  };
  const facts = [factOf(pull, repository, { kind: `pr_${action}`, at: times[action] })];
  if (action !== 'closed' && pull.mergeable_state === 'dirty') {
    facts.push(factOf(pull, repository, { kind: 'merge_conflict', at: pull.updated_at }));
  }
  return facts;
}

const Commit = z.object({
  message: z.string(),
  url: z.string().nullish().catch(null),
  /** The time of the commit, which its author chose. */
  timestamp: ForgeTime.nullish().catch(null),
  /** True at GitHub for a commit that no earlier push contained. */
  distinct: z.boolean().nullish(),
});
export const Push = z.object({
  ref: z.string(),
  before: z.string().nullish(),
  after: z.string(),
  deleted: z.boolean().nullish(),
  commits: z.array(Commit).nullish(),
  head_commit: Commit.nullish(),
  repository: Repository.extend({ pushed_at: ForgeTime.nullish() }),
});

const isNothing = (sha: string): boolean => /^0+$/.test(sha);
/** Returns the hash, or null for zeros, which forges send as the old head of a new branch. */
export const knownSha = (sha: string | null | undefined): string | null =>
  sha == null || isNothing(sha) ? null : sha;

/** Reads a push to a branch that may contain work. For the default branch, only reverts count. */
export function readPush(payload: unknown): DeliveryContent {
  const push = Push.parse(payload);
  const { repository } = push;
  const branch = /^refs\/heads\/(.+)$/s.exec(push.ref)?.[1];
  if (branch === undefined) return { ignored: 'a push that is not to a branch' };
  if (push.deleted === true || isNothing(push.after)) return { ignored: 'the branch was deleted' };
  if (isQueueBranch(branch)) return { ignored: 'a push to a merge queue branch' };
  const defaultBranch = repository.default_branch ?? null;
  const revert = revertsOfPush(push.commits ?? [], {
    ...{ branch, defaultBranch, repository: repository.full_name },
  });
  if (branch === defaultBranch) return toDefaultBranch(named(repository), revert);
  const at = repository.pushed_at ?? push.head_commit?.timestamp ?? push.commits?.at(-1)?.timestamp;
  if (at == null) return { ignored: 'a push without a time' };
  const commits = [...(push.head_commit == null ? [] : [push.head_commit]), ...(push.commits ?? [])];
  const own = isOfOthersWork(branch) ? [] : commits.filter(({ distinct }) => distinct !== false);
  const fact: DeliveryFact = {
    ...{ kind: 'branch_pushed', at, branch, sha: push.after, before: knownSha(push.before) },
    ...{ number: null, url: null, title: null, base: null },
    defaultBranch,
    isForeign: false,
    trailers: trailersOfCommits(own.map(({ message }) => message)),
    reviewer: null,
  };
  return { repository: named(repository), facts: [fact], checks: [], ...(revert && { revert }) };
}

/** Creates the result of reading a push to the default branch. Only reverts in such a push count. */
export const toDefaultBranch = (repository: NamedRepository, revert: Revert | undefined): DeliveryContent =>
  revert === undefined
    ? { ignored: 'a push to the default branch' }
    : { repository, facts: [], checks: [], revert };

export const reading = (
  repository: z.infer<typeof Repository>,
  {
    facts = [],
    checks = [],
  }: Partial<Pick<Extract<DeliveryContent, { facts: unknown }>, 'facts' | 'checks'>>,
): Exclude<DeliveryContent, { ignored: string }> => ({ repository: named(repository), facts, checks });

/** The name of Muster's own status. Its events are ignored, because it is not a check of the work. */
export const ownStatus = 'muster';

const Status = z.object({
  sha: z.string(),
  context: z.string(),
  state: z.string(),
  created_at: ForgeTime.nullish(),
  updated_at: ForgeTime.nullish(),
  repository: Repository,
});

const statusStates: Readonly<Record<string, 'pending' | 'passed' | 'failed'>> = {
  pending: 'pending',
  success: 'passed',
  skipped: 'passed',
  warning: 'passed',
  failure: 'failed',
  error: 'failed',
};

export function readStatus(payload: unknown): DeliveryContent {
  const { repository, context, sha, ...status } = Status.parse(payload);
  if (context === ownStatus) return { ignored: 'the commit status that Muster itself sent' };
  const state = statusStates[status.state];
  const at = status.updated_at ?? status.created_at;
  if (state === undefined || at == null) return { ignored: `a commit status of ${status.state}` };
  return reading(repository, { checks: [{ name: statusName(context), sha, state, at }] });
}
