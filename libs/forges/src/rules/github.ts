/** GitHub's events, with their readers or the reasons why they are ignored. */
import { type ObservationKind } from '@muster/contract';
import { z } from 'zod';
import { runName, suiteName } from './check-names.ts';
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
  zeroShaToNull,
  PullRequest,
  PullRequestEvent,
  type PullAction,
  toDeliveryContent,
  readPush,
  readStatus,
  Repository,
} from './pull-requests.ts';

const forgeSettingsReason = 'an event about the forge itself';

/** The meaning of each action on a pull request, or the reason why it is ignored. */
export const pullActionByGithubAction: Readonly<Record<string, PullAction | { readonly ignored: string }>> = {
  opened: 'opened',
  synchronize: 'updated',
  edited: 'updated',
  ready_for_review: 'updated',
  converted_to_draft: 'updated',
  reopened: 'reopened',
  closed: 'closed',
  ...Object.fromEntries(
    [
      ...splitWords('assigned unassigned labeled unlabeled milestoned demilestoned locked unlocked'),
      ...splitWords(
        'review_requested review_request_removed auto_merge_enabled auto_merge_disabled enqueued',
      ),
      ...splitWords('dequeued'),
    ].map((action) => [action, { ignored: irrelevantEventReason }]),
  ),
};

function readPullRequest(payload: unknown): DeliveryContent {
  const { action, before, pull_request: pull, repository } = PullRequestEvent.parse(payload);
  const pullAction = pullActionByGithubAction[action] ?? { ignored: `unknown action ${action}` };
  if (typeof pullAction !== 'string') return pullAction;
  const facts = toPullFacts(pull, repository, pullAction);
  return toDeliveryContent(repository, {
    facts: facts.map((fact) =>
      fact.kind === 'pr_updated' ? { ...fact, before: zeroShaToNull(before) } : fact,
    ),
  });
}

const ReviewEvent = z.object({
  action: z.string(),
  review: z.object({
    state: z.string(),
    author_association: z.string().nullish(),
    commit_id: z.string().nullish(),
    submitted_at: ForgeTime.nullish(),
    user: z.object({ id: z.int() }).nullish(),
  }),
  /** The pull request in a review event lacks some of the fields. */
  pull_request: PullRequest,
  repository: Repository,
});

const reviewKindByState: Readonly<Record<string, ObservationKind>> = {
  approved: 'review_approved',
  changes_requested: 'changes_requested',
  dismissed: 'review_dismissed',
};

/**
 * Returns true if the reviewer has write access. On a public repository anyone may review. GitHub always
 * sends the reviewer's relation to the repository.
 */
const mayWrite = (association: string | null | undefined): boolean =>
  association == null || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(association);

function readReview(payload: unknown): DeliveryContent {
  const { action, review, pull_request: pull, repository } = ReviewEvent.parse(payload);
  if (action !== 'submitted' && action !== 'dismissed')
    return { ignored: 'an edited review, which brings no new verdict' };
  const kind = reviewKindByState[review.state.toLowerCase()];
  if (!mayWrite(review.author_association)) return { ignored: 'a review by an account without write access' };
  if (kind === undefined || review.submitted_at == null) return { ignored: 'a review without a verdict' };
  const { submitted_at: at, commit_id: sha = null, user } = review;
  // A dismissal has the time of its review, so a later review of the same author stays in force.
  const fact = toPullFact(pull, repository, { kind, at, sha, reviewer: user?.id });
  return toDeliveryContent(repository, { facts: [fact] });
}

const checkStateByConclusion: Readonly<Record<string, CommitCheck['state']>> = {
  success: 'passed',
  neutral: 'passed',
  skipped: 'passed',
  failure: 'failed',
  timed_out: 'failed',
  cancelled: 'failed',
  action_required: 'failed',
  startup_failure: 'failed',
};

const RunPayload = z.object({
  head_sha: z.string(),
  conclusion: z.string().nullish(),
  updated_at: ForgeTime,
});

/** Converts a run to a check. A run that was requested again still has its earlier conclusion. */
function toCommitCheck(
  name: string,
  action: string,
  { head_sha: sha, conclusion, updated_at: at }: z.infer<typeof RunPayload>,
): CommitCheck | undefined {
  const state = action !== 'completed' || conclusion == null ? 'pending' : checkStateByConclusion[conclusion];
  // GitHub gave up a run with the conclusion `stale`, so it is ignored.
  return state === undefined ? undefined : { name, sha, state, at };
}

const CheckSuiteEvent = z.object({
  action: z.string(),
  check_suite: RunPayload.extend({ id: z.int(), app: z.object({ id: z.int() }).nullish() }),
  repository: Repository,
});

function readCheckSuite(payload: unknown): DeliveryContent {
  const { action, check_suite: suite, repository } = CheckSuiteEvent.parse(payload);
  const check = toCommitCheck(suiteName(suite.app?.id ?? null, suite.id), action, suite);
  return check === undefined
    ? { ignored: 'a canceled check' }
    : toDeliveryContent(repository, { checks: [check] });
}

const WorkflowRunEvent = z.object({
  action: z.string(),
  workflow_run: RunPayload.extend({
    id: z.int(),
    workflow_id: z.int(),
    event: z.string().nullish(),
    run_number: z.int().nullish(),
    check_suite_id: z.int().nullish(),
  }),
  repository: Repository,
});

function readWorkflowRun(payload: unknown): DeliveryContent {
  const { action, workflow_run: run, repository } = WorkflowRunEvent.parse(payload);
  const name = runName({
    ...{ workflow: String(run.workflow_id), event: run.event ?? '' },
    ...{ number: run.run_number ?? run.id, suite: run.check_suite_id },
  });
  const check = toCommitCheck(name, action, run);
  return check === undefined
    ? { ignored: 'a canceled check' }
    : toDeliveryContent(repository, { checks: [check] });
}

export const github: EventReaders = {
  push: readPush,
  pull_request: readPullRequest,
  pull_request_review: readReview,
  check_suite: readCheckSuite,
  workflow_run: readWorkflowRun,
  status: readStatus,
  ...ignoredEvents('reported by its check suite', 'check_run'),
  ...ignoredEvents('reported by its workflow run', 'workflow_job'),
  ...ignoredEvents('a merge queue event; the merge itself is reported separately', 'merge_group'),
  ...ignoredEvents('reported by the push event', 'create', 'delete'),
  ...ignoredEvents(
    irrelevantEventReason,
    ...splitWords('commit_comment issue_comment issues label milestone gollum discussion discussion_comment'),
    ...splitWords(
      'pull_request_review_comment pull_request_review_thread project project_card project_column',
    ),
    ...splitWords(
      'projects_v2_item release package page_build deployment deployment_review deployment_status',
    ),
    ...splitWords('repository_dispatch workflow_dispatch code_scanning_alert dependabot_alert'),
    ...splitWords('security_advisory repository_vulnerability_alert fork star watch'),
  ),
  ...ignoredEvents(
    forgeSettingsReason,
    ...splitWords('branch_protection_rule deploy_key github_app_authorization installation'),
    ...splitWords('installation_repositories marketplace_purchase member membership meta organization'),
    ...splitWords('org_block ping public repository repository_import sponsorship team team_add'),
  ),
};
