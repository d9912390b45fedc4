/** Recorded deliveries of GitHub for each of its events, with the expected interpretation. */
import { createRequire } from 'node:module';

interface ExampleEvent {
  readonly name: string;
  readonly examples: readonly { readonly action?: string }[];
}
export const githubEvents = createRequire(import.meta.url)(
  '@octokit/webhooks-examples',
) as readonly ExampleEvent[];

/**
 * The expected facts of recorded deliveries, by event and action. An event that is in neither list fails the
 * spec.
 */
export const expectedFacts: Readonly<Record<string, readonly string[]>> = {
  push: ['branch_pushed', 'ignored'],
  'pull_request opened': ['pr_opened'],
  'pull_request synchronize': ['pr_updated', 'pr_updated merge_conflict'],
  'pull_request edited': ['pr_updated'],
  'pull_request ready_for_review': ['pr_updated'],
  'pull_request converted_to_draft': ['pr_updated'],
  'pull_request reopened': ['pr_reopened', 'pr_reopened merge_conflict'],
  'pull_request closed': ['pr_merged', 'pr_closed'],
  'pull_request_review submitted': ['review_approved', 'changes_requested', 'ignored'],
  'pull_request_review dismissed': ['review_dismissed'],
  'check_suite completed': ['check passed', 'check failed'],
  'check_suite requested': ['check pending'],
  'check_suite rerequested': ['check pending'],
  // Among the recorded deliveries of this event, one has no conclusion, so it counts as pending.
  'workflow_run completed': ['check passed', 'check failed', 'check pending'],
  'workflow_run requested': ['check pending'],
  'workflow_run in_progress': ['check pending'],
  status: ['check pending', 'check passed', 'check failed'],
};
export const ignoredEvents: readonly string[] = [
  ...['branch_protection_rule', 'check_run', 'code_scanning_alert', 'commit_comment', 'create', 'delete'],
  ...['dependabot_alert', 'deploy_key', 'deployment', 'deployment_review', 'deployment_status', 'discussion'],
  ...['discussion_comment', 'fork', 'github_app_authorization', 'gollum', 'installation'],
  ...['installation_repositories', 'issue_comment', 'issues', 'label', 'marketplace_purchase', 'member'],
  ...['membership', 'merge_group', 'meta', 'milestone', 'organization', 'org_block', 'package', 'page_build'],
  ...['ping', 'project', 'project_card', 'project_column', 'projects_v2_item', 'public'],
  ...['pull_request_review_comment', 'pull_request_review_thread', 'release', 'repository'],
  ...['repository_dispatch', 'repository_import', 'repository_vulnerability_alert', 'security_advisory'],
  ...['sponsorship', 'star', 'team', 'team_add', 'watch', 'workflow_dispatch', 'workflow_job'],
  ...['pull_request assigned', 'pull_request unassigned', 'pull_request labeled', 'pull_request unlabeled'],
  ...['pull_request locked', 'pull_request unlocked', 'pull_request review_requested'],
  ...['pull_request review_request_removed', 'pull_request auto_merge_enabled'],
  ...['pull_request auto_merge_disabled'],
  'pull_request_review edited',
];

export const recordedDeliveries = githubEvents.flatMap(({ name, examples: payloads }) =>
  payloads.map((payload, index) => {
    const withAction = `${name} ${payload.action ?? ''}`;
    const key = withAction in expectedFacts || ignoredEvents.includes(withAction) ? withAction : name;
    return { event: name, key, index, payload, says: expectedFacts[key] ?? ['ignored'] };
  }),
);
