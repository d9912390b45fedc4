/** GitLab's events, by the names that the event header of a delivery contains. */
import { z } from 'zod';
import { childPipelineName, pipelineName } from './check-names.ts';
import {
  type CommitCheck,
  type DeliveryFact,
  ForgeTime,
  ignoredEvents,
  type NamedRepository,
  irrelevantEventReason,
  type ForgeEventReader,
  type DeliveryContent,
  type EventReaders,
  splitWords,
} from './fact.ts';
import { zeroShaToNull, defaultBranchPushContent } from './pull-requests.ts';
import { findReverts, findRevertsInPush } from './reverts.ts';
import { collectsOtherWork, isMergeQueueBranch, trailersOfCommits, trailersOfPull } from './trailers.ts';

const Project = z.object({
  id: z.int(),
  web_url: z.string(),
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
});

const toNamedRepository = (project: z.infer<typeof Project>): NamedRepository => ({
  externalId: String(project.id),
  url: project.web_url,
  fullName: project.path_with_namespace,
  defaultBranch: project.default_branch ?? null,
});

/** Reads a project. Throws a ZodError if the payload is invalid. */
export const readProject = (payload: unknown): NamedRepository => toNamedRepository(Project.parse(payload));

const Commit = z.object({
  id: z.string(),
  message: z.string().nullish(),
  url: z.string().nullish().catch(null),
  /** The time of the commit, which its author chose. */
  timestamp: ForgeTime.nullish().catch(null),
});

const PushEvent = z.object({
  ref: z.string(),
  before: z.string().nullish(),
  after: z.string(),
  commits: z.array(Commit).nullish(),
  project: Project,
});

/** Reads a push. GitLab sends no time of a push, so the time of its newest commit is used. */
function readPush(payload: unknown): DeliveryContent {
  const { ref, before, after, commits, project } = PushEvent.parse(payload);
  const branch = /^refs\/heads\/(.+)$/s.exec(ref)?.[1];
  if (branch === undefined) return { ignored: 'a push that is not to a branch' };
  if (/^0+$/.test(after)) return { ignored: 'the branch was deleted' };
  if (isMergeQueueBranch(branch)) return { ignored: 'a push to a merge queue branch' };
  const defaultBranch = project.default_branch ?? null;
  const { fullName } = toNamedRepository(project);
  const revert = findRevertsInPush(commits ?? [], { branch, defaultBranch, repository: fullName });
  if (branch === defaultBranch) return defaultBranchPushContent(toNamedRepository(project), revert);
  const at = (commits ?? []).map(({ timestamp }) => timestamp ?? '').reduce((a, b) => (a > b ? a : b), '');
  if (at === '') return { ignored: 'a push without a time' };
  const fact: DeliveryFact = {
    ...{ kind: 'branch_pushed', at, branch, sha: after, before: zeroShaToNull(before) },
    ...{ number: null, url: null, title: null, base: null },
    defaultBranch,
    isForeign: false,
    trailers: collectsOtherWork(branch)
      ? []
      : trailersOfCommits((commits ?? []).map(({ message }) => message)),
    reviewer: null,
  };
  return { repository: toNamedRepository(project), facts: [fact], checks: [], ...(revert && { revert }) };
}

export const factKindByMergeAction: Readonly<
  Record<string, DeliveryFact['kind'] | { readonly ignored: string }>
> = {
  open: 'pr_opened',
  update: 'pr_updated',
  reopen: 'pr_reopened',
  close: 'pr_closed',
  merge: 'pr_merged',
  approved: 'review_approved',
  approval: 'review_approved',
  unapproved: { ignored: 'a withdrawn approval, which does not request changes' },
  unapproval: { ignored: 'a withdrawn approval, which does not request changes' },
};

const User = z.object({ id: z.int() });
const Reviewers = z.array(User.extend({ state: z.string().nullish() })).nullish();

const MergeRequestEvent = z.object({
  project: Project,
  user: User.nullish(),
  changes: z.object({ reviewers: z.object({ previous: Reviewers, current: Reviewers }).nullish() }).nullish(),
  object_attributes: z.object({
    iid: z.int(),
    url: z.string(),
    title: z.string(),
    description: z.string().nullish(),
    action: z.string().nullish(),
    /** The head before a push. */
    oldrev: z.string().nullish(),
    state: z.string().nullish(),
    source_branch: z.string(),
    target_branch: z.string(),
    source_project_id: z.int().nullish(),
    target_project_id: z.int().nullish(),
    last_commit: Commit.nullish(),
    merge_commit_sha: z.string().nullish(),
    detailed_merge_status: z.string().nullish(),
    created_at: ForgeTime,
    updated_at: ForgeTime,
  }),
});

/** The verdicts for each reviewer's state. While a review is being written, the previous one stays. */
const factKindByReviewerState: Readonly<Record<string, DeliveryFact['kind']>> = {
  requested_changes: 'changes_requested',
  approved: 'review_approved',
  reviewed: 'review_dismissed',
  unreviewed: 'review_dismissed',
  unapproved: 'review_dismissed',
};

/** Returns the reviews of reviewers whose state changed. */
function changedReviews({ changes }: z.infer<typeof MergeRequestEvent>, fact: DeliveryFact): DeliveryFact[] {
  const { previous, current } = changes?.reviewers ?? {};
  const before = new Map((previous ?? []).map(({ id, state }) => [id, state]));
  return (current ?? []).flatMap(({ id, state }) => {
    const kind = factKindByReviewerState[state ?? ''];
    const isNews = kind !== undefined && before.has(id) && before.get(id) !== state;
    return isNews ? [{ ...fact, kind, before: null, reviewer: String(id) }] : [];
  });
}

function readMergeRequest(payload: unknown): DeliveryContent {
  const event = MergeRequestEvent.parse(payload);
  const { project, user, object_attributes: merge } = event;
  const factKind = factKindByMergeAction[merge.action ?? ''] ?? { ignored: irrelevantEventReason };
  if (typeof factKind !== 'string') return factKind;
  if (factKind === 'pr_updated' && (merge.state === 'closed' || merge.state === 'merged'))
    return { ignored: 'an edit of a closed merge request' };
  const fact: DeliveryFact = {
    kind: factKind,
    at: factKind === 'pr_opened' ? merge.created_at : merge.updated_at,
    branch: merge.source_branch,
    sha: factKind === 'pr_merged' ? (merge.merge_commit_sha ?? null) : (merge.last_commit?.id ?? null),
    before: factKind === 'pr_updated' ? zeroShaToNull(merge.oldrev) : null,
    number: merge.iid,
    url: merge.url,
    title: merge.title,
    base: merge.target_branch,
    defaultBranch: project.default_branch ?? null,
    isForeign: merge.source_project_id !== merge.target_project_id,
    trailers: collectsOtherWork(merge.source_branch)
      ? []
      : trailersOfPull(merge.description, [merge.last_commit?.message]),
    reviewer: factKind === 'review_approved' && user != null ? String(user.id) : null,
    ...(factKind === 'pr_merged' && {
      revertedReferences: findReverts(merge.description, project.path_with_namespace),
    }),
  };
  const isOpen = factKind === 'pr_opened' || factKind === 'pr_updated' || factKind === 'pr_reopened';
  const conflict: DeliveryFact = { ...fact, kind: 'merge_conflict', at: merge.updated_at };
  const conflicts = isOpen && merge.detailed_merge_status === 'conflict' ? [conflict] : [];
  const reviews = factKind === 'pr_updated' ? changedReviews(event, fact) : [];
  return { repository: toNamedRepository(project), facts: [fact, ...conflicts, ...reviews], checks: [] };
}

const checkStateByPipelineStatus: Readonly<Record<string, CommitCheck['state']>> = {
  success: 'passed',
  skipped: 'passed',
  failed: 'failed',
  canceled: 'failed',
  ...Object.fromEntries(
    splitWords('created waiting_for_resource preparing pending running manual scheduled canceling').map(
      (status) => [status, 'pending' as const],
    ),
  ),
};

const Pipeline = z.object({
  project: Project,
  object_attributes: z.object({
    id: z.int(),
    ref: z.string().nullish(),
    tag: z.boolean().nullish(),
    sha: z.string(),
    status: z.string(),
    source: z.string().nullish(),
    created_at: ForgeTime,
    finished_at: ForgeTime.nullish(),
  }),
  merge_request: z.object({ iid: z.int(), target_project_id: z.int().nullish() }).nullish(),
  commit: z.object({ message: z.string().nullish() }).nullish(),
  source_pipeline: z.object({ pipeline_id: z.int() }).nullish(),
});
type Pipeline = z.infer<typeof Pipeline>;

/** Returns the merge request of a pipeline, if it belongs to this project. */
function mergeRequestIid({
  project,
  merge_request: request,
  object_attributes: { ref },
}: Pipeline): number | null {
  if (request != null) return (request.target_project_id ?? project.id) === project.id ? request.iid : null;
  const [, iid] = /^refs\/merge-requests\/(\d+)\/(?:head|merge|train)$/.exec(ref ?? '') ?? [];
  return iid === undefined ? null : Number(iid);
}

/**
 * Returns the commit that a pipeline checks. GitLab can run a pipeline on a trial merge, which is a commit on
 * no branch. The commit message names the head, or at least begins with `Merge`. In a merge train the commit
 * contains the head and all changes queued before it.
 */
function checkedCommit(pipeline: Pipeline, iid: number | null): Pick<CommitCheck, 'sha' | 'trialOf'> {
  const { sha, ref } = pipeline.object_attributes;
  const message = pipeline.commit?.message;
  const isAtHead = /\/head$/.test(ref ?? '') || (message != null && !message.startsWith('Merge '));
  if (iid === null || isAtHead) return { sha };
  const [, head] = /^Merge ([0-9a-f]{40,64}) into [0-9a-f]{40,64}/.exec(message ?? '') ?? [];
  return head === undefined ? { sha, trialOf: iid } : { sha: head };
}

function checkNameOfPipeline(
  { object_attributes: pipeline, source_pipeline: parent }: Pipeline,
  iid: number | null,
): string {
  const { id, source, ref } = pipeline;
  if (source === 'parent_pipeline') return childPipelineName(parent?.pipeline_id ?? null, id);
  return pipelineName(id, iid === null ? `${source ?? ''}:${ref ?? ''}` : `merge_request:${iid}`);
}

function readPipeline(payload: unknown): DeliveryContent {
  const read = Pipeline.parse(payload);
  const { project, object_attributes: pipeline } = read;
  const state = checkStateByPipelineStatus[pipeline.status];
  if (pipeline.tag === true) return { ignored: 'a pipeline for a tag' };
  if (state === undefined) return { ignored: `a pipeline with the status ${pipeline.status}` };
  const at = pipeline.finished_at ?? pipeline.created_at;
  const iid = mergeRequestIid(read);
  const check: CommitCheck = { name: checkNameOfPipeline(read, iid), ...checkedCommit(read, iid), state, at };
  return { repository: toNamedRepository(project), facts: [], checks: [check] };
}

const hookEventNames = (names: string): string[] => names.split(', ').map((name) => `${name} Hook`);

const SystemHook = z.looseObject({
  object_kind: z.string().nullish(),
  event_name: z.string().nullish(),
  project_id: z.int().nullish(),
  project: z.looseObject({}).nullish(),
});
const systemReaders: Readonly<Record<string, ForgeEventReader>> = {
  push: readPush,
  merge_request: readMergeRequest,
  pipeline: readPipeline,
};

/**
 * Reads a system hook of a whole GitLab instance. All events have the same name. Push events may contain the
 * project's id separately from the project.
 */
function readSystemHook(payload: unknown): DeliveryContent {
  const hook = SystemHook.parse(payload);
  const kind = hook.object_kind ?? hook.event_name ?? '';
  const reader = Object.hasOwn(systemReaders, kind) ? systemReaders[kind] : undefined;
  if (reader === undefined) return { ignored: `an unsupported system hook: ${kind.slice(0, 100)}` };
  return reader({ ...hook, project: { id: hook.project_id, ...hook.project } });
}

export const gitlab: EventReaders = {
  'System Hook': readSystemHook,
  'Push Hook': readPush,
  'Merge Request Hook': readMergeRequest,
  'Pipeline Hook': readPipeline,
  'Job Hook': 'its pipeline says it',
  ...ignoredEvents(
    irrelevantEventReason,
    ...hookEventNames(
      'Tag Push, Issue, Confidential Issue, Note, Confidential Note, Wiki Page, Deployment, Release',
    ),
    ...hookEventNames('Feature Flag, Emoji, Milestone, Work Item, Vulnerability, Member, Subgroup, Project'),
    ...hookEventNames('Resource Access Token'),
  ),
};
