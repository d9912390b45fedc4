/**
 * The project that owns each table: only its statements write the table, and libs/migrations/functions, which write
 * counts, for example.
 */
export const ownedTables: Readonly<Record<string, readonly string[]>> = {
  'libs/placement': ['peers', 'unsent'],
  'libs/tenancy': ['activity', 'audit', 'outbox', 'rights_epochs', 'streams'],
  'libs/runtime': ['idempotency_keys'],
  'apps/sign-in': ['accounts', 'flows', 'identities', 'oauth_records', 'passkeys', 'sessions', 'sign_ins'],
  'libs/organizations': [
    ...['identity_provider_domains', 'identity_providers', 'agents', 'connections', 'devices', 'invitations'],
    ...['members', 'orgs', 'team_members', 'teams', 'tokens'],
  ],
  'libs/attachments': ['attachments', 'exports', 'export_files', 'export_parts'],
  'libs/billing': ['seat_ledger', 'seat_usage', 'subscriptions'],
  'libs/board': [
    ...['access_requests', 'assignments', 'board_columns', 'comment_reactions', 'deleted_records'],
    ...['contract_stories', 'contract_versions', 'contracts', 'epics', 'import_items', 'imports'],
    ...['plan_items', 'plans', 'views', 'project_counters', 'project_members', 'story_subscriptions'],
    ...['project_teams', 'projects', 'prompts', 'stories', 'deleted_stories', 'story_blockers', 'comments'],
    ...['story_reviewers', 'search_documents', 'search_words', 'story_selections', 'story_specs'],
  ],
  'libs/delivery': [
    ...['agent_runs', 'catalog_agents', 'catalog_tombstones', 'catalog_versions', 'delivery_group_stories'],
    ...['delivery_groups', 'execution_contributors', 'execution_events', 'executions', 'forge_observations'],
    ...['budgets', 'code_changes', 'code_change_files', 'leases', 'lock_counters', 'locks', 'run_logs'],
    ...['run_usage', 'usage_days', 'usage_prices'],
  ],
  'libs/forges': [
    ...['forge_checks', 'forge_connections', 'forge_deliveries', 'forge_facts', 'forge_pulls'],
    ...['forge_repositories', 'forge_statuses'],
  ],
  'libs/notifications': [
    ...['broadcasts', 'notification_counts', 'notification_digests', 'notification_preferences', 'webhooks'],
    ...['inbox_items', 'inbox_streams', 'notification_snoozes', 'notifications', 'webhook_deliveries'],
  ],
  'libs/gamification': [
    ...['gamification_state', 'point_days', 'point_entries', 'point_resets', 'point_scores', 'point_tallies'],
  ],
};

const asksForJobs = 'a row asks for a job, in the transaction that the job follows from';
const copies = 'accounts, sessions and passkeys are copied to every server';
const runsJobs = 'it dispatches jobs and marks them done';

/** Other files that write a table, and the reason why they may. */
export const otherWriters: Readonly<Record<string, readonly (readonly [file: string, reason: string])[]>> = {
  attachments: [['libs/board/src/data/comments.ts', 'deletions and imports of comments change attachments']],
  devices: [['apps/delivery-worker/src/deliver.ts', 'a push service says that a device is gone']],
  file_deletions: [['libs/attachments/src/remove.ts', 'the files belong to no organization any more']],
  lock_counters: [['libs/board/src/data/projects.ts', 'a project comes with its counters']],
  outbox: [
    ['apps/delivery-worker/src/perform.ts', runsJobs],
    ['apps/delivery-worker/src/relay.ts', runsJobs],
    ['apps/delivery-worker/src/identity-providers.ts', asksForJobs],
    ['apps/delivery-worker/src/token-ends.ts', asksForJobs],
    ['libs/forges/src/data/changes.ts', asksForJobs],
    ['libs/forges/src/data/parked.ts', asksForJobs],
    ['libs/forges/src/data/quiet-pulls.ts', asksForJobs],
    ['libs/forges/src/data/statuses.ts', asksForJobs],
    ['libs/notifications/src/data/write-notifications.ts', asksForJobs],
    ['libs/organizations/src/operators/dead-jobs.ts', 'an operator has dead jobs tried again'],
  ],
  passkeys: [['libs/placement/src/copies.ts', copies]],
  project_members: [['libs/organizations/src/data/invited-into.ts', 'an invitation names projects']],
  sessions: [['libs/placement/src/copies.ts', copies]],
  stories: [['libs/delivery/src/data/code-under-review.ts', 'executions submit the code under review']],
};
