/** Pull requests in the nearly identical formats of GitHub, Gitea and Forgejo. */
import { type ObservationKind } from '@muster/contract';
import { z } from 'zod';
import { statusName } from './check-names.ts';
import {
  type DeliveryFact,
  ForgeTime,
  type NamedRepository,
  type DeliveryContent,
  type Revert,
} from './fact.ts';
import { findReverts, findRevertsInPush } from './reverts.ts';
import { collectsOtherWork, isMergeQueueBranch, trailersOfCommits, trailersOfPull } from './trailers.ts';

export const Repository = z.object({
  id: z.int(),
  html_url: z.string(),
  full_name: z.string(),
  default_branch: z.string().nullish(),
});

const PullSide = z.object({
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
  head: PullSide,
  base: PullSide,
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

export const toNamedRepository = (repository: z.infer<typeof Repository>): NamedRepository => ({
  externalId: String(repository.id),
  url: repository.html_url,
  fullName: repository.full_name,
  defaultBranch: repository.default_branch ?? null,
});

/** Reads a repository. Throws a ZodError if the payload is invalid. */
export const readRepository = (payload: unknown): NamedRepository =>
  toNamedRepository(Repository.parse(payload));

const repositoryIdOfSide = ({ repo, repo_id: id }: z.infer<typeof PullSide>): number | undefined =>
  repo?.id ?? id ?? undefined;

/** Creates a fact about a pull request. */
export function toPullFact(
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
    isForeign: repositoryIdOfSide(pull.head) !== repository.id,
    trailers: collectsOtherWork(pull.head.ref) ? [] : trailersOfPull(pull.body),
    reviewer: reviewer === undefined ? null : String(reviewer),
  };
}

/** The change that an event reports about a pull request. */
export type PullAction = 'opened' | 'updated' | 'reopened' | 'closed';

/** Returns the facts of an action on a pull request. A closed pull request can be edited and stays closed. */
export function toPullFacts(
  pull: PullRequest,
  repository: z.infer<typeof Repository>,
  pullAction: PullAction,
): DeliveryFact[] {
  const action = pullAction === 'updated' && pull.state === 'closed' ? 'closed' : pullAction;
  const isMerged = action === 'closed' && pull.merged === true;
  if (isMerged) {
    const at = pull.merged_at ?? pull.closed_at ?? pull.updated_at;
    const fact = toPullFact(pull, repository, { kind: 'pr_merged', at, sha: pull.merge_commit_sha ?? null });
    return [{ ...fact, revertedReferences: findReverts(pull.body, repository.full_name) }];
  }
  const times = {
    opened: pull.created_at,
    updated: pull.updated_at,
    reopened: pull.updated_at,
    closed: pull.closed_at ?? pull.updated_at,
  };
  const facts = [toPullFact(pull, repository, { kind: `pr_${action}`, at: times[action] })];
  if (action !== 'closed' && pull.mergeable_state === 'dirty')
    facts.push(toPullFact(pull, repository, { kind: 'merge_conflict', at: pull.updated_at }));
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
export const PushEvent = z.object({
  ref: z.string(),
  before: z.string().nullish(),
  after: z.string(),
  deleted: z.boolean().nullish(),
  commits: z.array(Commit).nullish(),
  head_commit: Commit.nullish(),
  repository: Repository.extend({ pushed_at: ForgeTime.nullish() }),
});

const isZeroSha = (sha: string): boolean => /^0+$/.test(sha);
/** Returns the hash, or null for zeros, which forges send as the old head of a new branch. */
export const zeroShaToNull = (sha: string | null | undefined): string | null =>
  sha == null || isZeroSha(sha) ? null : sha;

/** Reads a push to a branch that may contain work. For the default branch, only reverts count. */
export function readPush(payload: unknown): DeliveryContent {
  const push = PushEvent.parse(payload);
  const { repository } = push;
  const branch = /^refs\/heads\/(.+)$/s.exec(push.ref)?.[1];
  if (branch === undefined) return { ignored: 'a push that is not to a branch' };
  if (push.deleted === true || isZeroSha(push.after)) return { ignored: 'the branch was deleted' };
  if (isMergeQueueBranch(branch)) return { ignored: 'a push to a merge queue branch' };
  const defaultBranch = repository.default_branch ?? null;
  const revert = findRevertsInPush(push.commits ?? [], {
    ...{ branch, defaultBranch, repository: repository.full_name },
  });
  if (branch === defaultBranch) return defaultBranchPushContent(toNamedRepository(repository), revert);
  const at = repository.pushed_at ?? push.head_commit?.timestamp ?? push.commits?.at(-1)?.timestamp;
  if (at == null) return { ignored: 'a push without a time' };
  const commits = [...(push.head_commit == null ? [] : [push.head_commit]), ...(push.commits ?? [])];
  const own = collectsOtherWork(branch) ? [] : commits.filter(({ distinct }) => distinct !== false);
  const fact: DeliveryFact = {
    ...{ kind: 'branch_pushed', at, branch, sha: push.after, before: zeroShaToNull(push.before) },
    ...{ number: null, url: null, title: null, base: null },
    defaultBranch,
    isForeign: false,
    trailers: trailersOfCommits(own.map(({ message }) => message)),
    reviewer: null,
  };
  return { repository: toNamedRepository(repository), facts: [fact], checks: [], ...(revert && { revert }) };
}

/** Creates the result of reading a push to the default branch. Only reverts in such a push count. */
export const defaultBranchPushContent = (
  repository: NamedRepository,
  revert: Revert | undefined,
): DeliveryContent =>
  revert === undefined
    ? { ignored: 'a push to the default branch' }
    : { repository, facts: [], checks: [], revert };

export const toDeliveryContent = (
  repository: z.infer<typeof Repository>,
  {
    facts = [],
    checks = [],
  }: Partial<Pick<Extract<DeliveryContent, { facts: unknown }>, 'facts' | 'checks'>>,
): Exclude<DeliveryContent, { ignored: string }> => ({
  repository: toNamedRepository(repository),
  facts,
  checks,
});

/** The name of Muster's own status. Its events are ignored, because it is not a check of the work. */
export const ownStatusName = 'muster';

const StatusEvent = z.object({
  sha: z.string(),
  context: z.string(),
  state: z.string(),
  created_at: ForgeTime.nullish(),
  updated_at: ForgeTime.nullish(),
  repository: Repository,
});

const checkStateByStatus: Readonly<Record<string, 'pending' | 'passed' | 'failed'>> = {
  pending: 'pending',
  success: 'passed',
  skipped: 'passed',
  warning: 'passed',
  failure: 'failed',
  error: 'failed',
};

export function readStatus(payload: unknown): DeliveryContent {
  const { repository, context, sha, ...status } = StatusEvent.parse(payload);
  if (context === ownStatusName) return { ignored: 'the commit status that Muster itself sent' };
  const state = checkStateByStatus[status.state];
  const at = status.updated_at ?? status.created_at;
  if (state === undefined || at == null) return { ignored: `a commit status of ${status.state}` };
  return toDeliveryContent(repository, { checks: [{ name: statusName(context), sha, state, at }] });
}
