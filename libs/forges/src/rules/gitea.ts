/** Events of Gitea and Forgejo, by either name that a delivery has for them. */
import { z } from 'zod';
import { ForgeTime, ignored, ofBoard, type Reading, type Translation, words } from './fact.ts';
import {
  factOf,
  factsOf,
  PullRequestEvent,
  type PullAction,
  reading,
  readPush,
  readStatus,
  Repository,
} from './pull-requests.ts';

export const giteaActions: Readonly<Record<string, PullAction>> = {
  opened: 'opened',
  synchronized: 'updated',
  edited: 'updated',
  reopened: 'reopened',
  closed: 'closed',
};

function readPullRequest(payload: unknown): Reading {
  const { action, pull_request: pull, repository } = PullRequestEvent.parse(payload);
  const told = giteaActions[action];
  return told === undefined
    ? { ignored: ofBoard }
    : reading(repository, { facts: factsOf(pull, repository, told) });
}

/** The time of the review itself is not sent; the pull request changed by it. */
const reviewReader =
  (kind: 'review_approved' | 'changes_requested') =>
  (payload: unknown): Reading => {
    const { pull_request: pull, repository } = PullRequestEvent.parse(payload);
    return reading(repository, { facts: [factOf(pull, repository, { kind, at: pull.updated_at })] });
  };

const WorkflowRun = z.object({
  workflow_run: z.object({
    head_sha: z.string(),
    path: z.string().nullish(),
    status: z.string().nullish(),
    conclusion: z.string().nullish(),
    started_at: ForgeTime.nullish(),
    completed_at: ForgeTime.nullish(),
  }),
  repository: Repository,
});

function readWorkflowRun(payload: unknown): Reading {
  const { workflow_run: run, repository } = WorkflowRun.parse(payload);
  // What has not been yet is in 1970.
  const at = [run.started_at ?? '', run.completed_at ?? ''].toSorted().at(-1);
  if (!at) return { ignored: 'a run without a time' };
  const isOver = run.status === 'completed';
  const hasPassed = run.conclusion === 'success' || run.conclusion === 'skipped';
  const state = isOver ? (hasPassed ? 'passed' : 'failed') : 'pending';
  const name = `workflow:${run.path ?? ''}`.replace(/@.*$/s, '').slice(0, 255);
  return reading(repository, { checks: [{ name, sha: run.head_sha, state, at }] });
}

export const gitea: Translation = {
  push: readPush,
  status: readStatus,
  pull_request: readPullRequest,
  pull_request_sync: readPullRequest,
  pull_request_approved: reviewReader('review_approved'),
  pull_request_review_approved: reviewReader('review_approved'),
  pull_request_rejected: reviewReader('changes_requested'),
  pull_request_review_rejected: reviewReader('changes_requested'),
  workflow_run: readWorkflowRun,
  ...ignored('its workflow run says it', 'workflow_job'),
  ...ignored('the push says it', 'create', 'delete'),
  ...ignored(
    ofBoard,
    ...words('fork issues issue_assign issue_label issue_milestone issue_comment pull_request_assign'),
    ...words('pull_request_label pull_request_milestone pull_request_comment pull_request_review_comment'),
    ...words('pull_request_review_request wiki repository release package schedule action_run_failure'),
    ...words('action_run_recover action_run_success'),
  ),
};
