/** The events of Gitea and Forgejo, under both names that deliveries use for them. */
import { type ObservationKind } from '@muster/contract';
import { z } from 'zod';
import { runName } from './check-names.ts';
import {
  type CommitCheck,
  ForgeTime,
  ignoredEvents,
  irrelevantEventReason,
  type DeliveryContent,
  type EventReaders,
  splitWords,
} from './fact.ts';
import {
  toPullFact,
  toPullFacts,
  PullRequestEvent,
  type PullAction,
  toDeliveryContent,
  readPush,
  readStatus,
  Repository,
} from './pull-requests.ts';

export const pullActionByGiteaAction: Readonly<Record<string, PullAction>> = {
  opened: 'opened',
  synchronized: 'updated',
  edited: 'updated',
  reopened: 'reopened',
  closed: 'closed',
};

function readPullRequest(payload: unknown): DeliveryContent {
  const { action, pull_request: pull, repository } = PullRequestEvent.parse(payload);
  const pullAction = pullActionByGiteaAction[action];
  return pullAction === undefined
    ? { ignored: irrelevantEventReason }
    : toDeliveryContent(repository, { facts: toPullFacts(pull, repository, pullAction) });
}

/**
 * Reads a review event. On a public repository anyone may review, and the delivery does not say whether the
 * reviewer has write access. So it only reports that there is a review, and the forge is polled.
 */
function readReviewNotice(payload: unknown): DeliveryContent {
  const { pull_request: pull, repository } = PullRequestEvent.parse(payload);
  return { ...toDeliveryContent(repository, {}), reviewsOfPullNumber: pull.number };
}

/** The event name of a review that Muster requested. No webhook uses it. */
export const polledReviewEvent = 'pull_request_review';

export const reviewKindByState: Readonly<Record<string, ObservationKind>> = {
  APPROVED: 'review_approved',
  REQUEST_CHANGES: 'changes_requested',
};

/** A review. It is official if it counts for the branch protection rules, which requires write access. */
const ReviewEvent = PullRequestEvent.extend({
  review: z.object({
    state: z.string(),
    official: z.boolean().nullish(),
    dismissed: z.boolean().nullish(),
    commit_id: z.string().nullish(),
    submitted_at: ForgeTime,
    user: z.object({ id: z.int() }).nullish(),
  }),
});

function readReview(payload: unknown): DeliveryContent {
  const { pull_request: pull, repository, review } = ReviewEvent.parse(payload);
  if (review.official !== true) return { ignored: 'a review by an account without write access' };
  const { submitted_at: at, commit_id: sha, user } = review;
  // A dismissal has the time of its review, so a later review of the same author stays in force.
  const kind = review.dismissed === true ? 'review_dismissed' : reviewKindByState[review.state];
  if (kind === undefined) return { ignored: 'a review without a verdict' };
  const fact = toPullFact(pull, repository, { kind, at, sha: sha || null, reviewer: user?.id });
  return toDeliveryContent(repository, { facts: [fact] });
}

const WorkflowRunEvent = z.object({
  workflow_run: z.object({
    id: z.int().nullish(),
    run_number: z.int().nullish(),
    event: z.string().nullish(),
    head_sha: z.string(),
    path: z.string().nullish(),
    status: z.string().nullish(),
    conclusion: z.string().nullish(),
    started_at: ForgeTime.nullish(),
    completed_at: ForgeTime.nullish(),
  }),
  repository: Repository,
});

function readWorkflowRun(payload: unknown): DeliveryContent {
  const { workflow_run: run, repository } = WorkflowRunEvent.parse(payload);
  // A time that is not set yet has been converted to 1970, so the later time is the right one.
  const at = [run.started_at ?? '', run.completed_at ?? ''].toSorted().at(-1);
  if (!at) return { ignored: 'a run without a time' };
  const isOver = run.status === 'completed';
  const hasPassed = run.conclusion === 'success' || run.conclusion === 'skipped';
  const state = isOver ? (hasPassed ? 'passed' : 'failed') : 'pending';
  const workflow = (run.path ?? '').replace(/@.*$/s, '');
  const name = runName({ workflow, event: run.event ?? '', number: run.run_number ?? run.id ?? 0 });
  return toDeliveryContent(repository, { checks: [{ name, sha: run.head_sha, state, at }] });
}

const ActionRunEvent = z.object({
  action: z.string().nullish(),
  run: z.object({
    id: z.int(),
    index_in_repo: z.int().nullish(),
    workflow_id: z.string().nullish(),
    event: z.string().nullish(),
    commit_sha: z.string(),
    status: z.string().nullish(),
    started: ForgeTime.nullish(),
    stopped: ForgeTime.nullish(),
    updated: ForgeTime.nullish(),
    repository: Repository.nullish(),
  }),
  repository: Repository.nullish(),
});

/** The states of a run, which are also the last part of its event's name. */
const checkStateByRunStatus: Readonly<Record<string, CommitCheck['state']>> = {
  success: 'passed',
  recover: 'passed',
  skipped: 'passed',
  failure: 'failed',
  cancelled: 'failed',
  ...Object.fromEntries(splitWords('waiting running blocked').map((status) => [status, 'pending' as const])),
};

/** Reads Forgejo's event for a completed run. */
function readActionRun(payload: unknown): DeliveryContent {
  const { action, run, repository = run.repository } = ActionRunEvent.parse(payload);
  const runStatus = run.status ?? action ?? '';
  const state = checkStateByRunStatus[runStatus];
  const at = [run.started ?? '', run.stopped ?? '', run.updated ?? ''].toSorted().at(-1);
  if (state === undefined || repository == null || !at)
    return { ignored: `a run with the status ${runStatus}` };
  const { workflow_id: workflow, event, index_in_repo: number } = run;
  const name = runName({ workflow: workflow ?? '', event: event ?? '', number: number ?? run.id });
  return toDeliveryContent(repository, { checks: [{ name, sha: run.commit_sha, state, at }] });
}

/**
 * The event name of workflow runs that were fetched from the forge's API instead of being received in a delivery.
 */
export const polledRunEvent = 'action_run';

export const gitea: EventReaders = {
  push: readPush,
  status: readStatus,
  pull_request: readPullRequest,
  pull_request_sync: readPullRequest,
  pull_request_approved: readReviewNotice,
  pull_request_review_approved: readReviewNotice,
  pull_request_rejected: readReviewNotice,
  pull_request_review_rejected: readReviewNotice,
  [polledReviewEvent]: readReview,
  workflow_run: readWorkflowRun,
  [polledRunEvent]: readActionRun,
  action_run_failure: readActionRun,
  action_run_recover: readActionRun,
  action_run_success: readActionRun,
  ...ignoredEvents('reported by its workflow run', 'workflow_job'),
  ...ignoredEvents('reported by the push event', 'create', 'delete'),
  ...ignoredEvents(
    irrelevantEventReason,
    ...splitWords('fork issues issue_assign issue_label issue_milestone issue_comment pull_request_assign'),
    ...splitWords(
      'pull_request_label pull_request_milestone pull_request_comment pull_request_review_comment',
    ),
    ...splitWords('pull_request_review_request wiki repository release package schedule'),
  ),
};
