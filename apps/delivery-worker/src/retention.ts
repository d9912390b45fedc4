/**
 * The retention of every table, defined only here. A spec fails for a table without an entry, and
 * docs/decisions/retention.md shows the same table. purge.ts applies these rules.
 */
import { deletedStoryRetentionDays } from '@muster/board';
import { runLogRetentionDays } from '@muster/delivery';
import { type Part, sql } from '@muster/driver';
import { deliveryRetentionDays } from '@muster/notifications';
import { planLimits } from '@muster/organizations';
import {
  exportRetentionDays,
  maxKeptExports,
  maxRunLogLines,
  maxSnoozedNotifications,
  type Plan,
  plans,
  Policy,
} from '@muster/contract';

export type Retention =
  /** A row is kept as long as its parent record. `because` explains why that is sufficient. */
  | { readonly retentionKind: 'for good'; readonly growthSource: string; readonly because: string }
  /** Limited to a fixed number of rows. */
  | { readonly retentionKind: 'capped'; readonly growthSource: string; readonly at: string }
  | {
      readonly retentionKind: 'purged';
      readonly growthSource: string;
      readonly purgedWhen: string;
      readonly purge: readonly PurgeRule[] | 'by removal';
    };

export interface PurgeRule {
  readonly key: readonly string[];
  /** Returns the condition for due rows; `days` is the retention of completed records. */
  readonly isDueSql: (days: Part) => Part;
  /**
   * The sort order, oldest rows first. For a large table it is the order of an index, so that each portion
   * finds its rows quickly, however many rows are due.
   */
  readonly oldestFirst: Part;
  /** The retention in days of organization `o` with subscription `s`, if each organization has its own. */
  readonly daysSql?: Part;
}

const permanentRetention = (growthSource: string, reason: string): Retention => ({
  retentionKind: 'for good',
  growthSource,
  because: reason,
});
const cappedRetention = (growthSource: string, limit: string): Retention => ({
  retentionKind: 'capped',
  growthSource,
  at: limit,
});
const purgedRetention = (growthSource: string, purgedWhen: string, ...purge: PurgeRule[]): Retention => ({
  ...{ retentionKind: 'purged', growthSource, purgedWhen },
  purge: purge.length === 0 ? 'by removal' : purge,
});

const idKey = ['org_id', 'id'];
const writingMembers = 'members who write';
const leaseHolders = 'holders';
const admins = 'admins';
const retentionDaysVariable = 'RETENTION_DAYS';

function auditDaysCaseOf(plan: Plan): Part {
  const { auditRetentionDays: days } = planLimits(plan);
  return sql.part`when ${plan} then ${days === null ? sql.part`null` : sql.literal(days)}`;
}

/**
 * Days for which organization `o` with subscription `s` keeps audit entries: the policy's value, limited by
 * the plan.
 */
export const auditRetentionDaysSql = sql.part`least(
  coalesce((o.policy ->> 'auditRetentionDays')::int, ${sql.literal(Policy.parse({}).auditRetentionDays)}),
  case s.plan ${sql.join(plans.map(auditDaysCaseOf), ' ')} end)`;

export const retention: Readonly<Record<string, Retention>> = {
  access_requests: purgedRetention('any member', `${retentionDaysVariable} after the request was decided`, {
    key: idKey,
    isDueSql: (days) => sql.part`t.resolved_at < now() - ${days}`,
    oldestFirst: sql.part`t.resolved_at`,
  }),
  activity: permanentRetention('each write', 'members read it as history, and points are counted from it'),
  agent_runs: purgedRetention(
    'agents',
    `${retentionDaysVariable} after the run ended, or after its agent last reported`,
    {
      key: idKey,
      isDueSql: (days) => sql.part`t.ended_at < now() - ${days}`,
      oldestFirst: sql.part`t.ended_at`,
    },
    {
      key: idKey,
      isDueSql: (days) => sql.part`t.ended_at is null and t.last_seen_at < now() - ${days}`,
      oldestFirst: sql.part`t.last_seen_at`,
    },
  ),
  agents: permanentRetention(
    'any member',
    'history names the agents; the rows are deleted with their member',
  ),
  assignments: cappedRetention(writingMembers, 'one row for each story, epic and group'),
  attachments: purgedRetention(
    'viewers too',
    'a day after an upload began that was not finished; other rows are deleted with their story, comment or execution',
    {
      key: idKey,
      isDueSql: () => sql.part`t.state = 'pending' and t.created_at < now() - interval '1 day'`,
      oldestFirst: sql.part`t.created_at`,
    },
  ),
  audit: purgedRetention(
    'each write, and refusals',
    'as many days as the policy sets, up to the maximum of the plan',
    {
      key: ['org_id', 'seq', 'at'],
      daysSql: auditRetentionDaysSql,
      isDueSql: (days) => sql.part`t.at < now() - ${days}`,
      oldestFirst: sql.part`t.at`,
    },
  ),
  board_columns: cappedRetention('leads', 'what a board holds; archived ones stay for their name'),
  broadcasts: purgedRetention(
    'any member who may send',
    `${retentionDaysVariable} after the broadcast expired`,
    {
      key: idKey,
      isDueSql: (days) => sql.part`t.expires_at < now() - ${days}`,
      oldestFirst: sql.part`t.expires_at`,
    },
  ),
  budgets: cappedRetention('admins and leads', '1,000 for each organization'),
  catalog_agents: cappedRetention('any member', 'what the plan allows'),
  catalog_tombstones: permanentRetention(
    'publishers',
    'a version that was deleted never comes back with other content',
  ),
  catalog_versions: cappedRetention('publishers', '500 for each agent, of 4 MiB at most'),
  code_change_files: permanentRetention('forges and runners', 'the row is deleted with its changes'),
  code_changes: purgedRetention(
    'forges and runners',
    `${retentionDaysVariable} after the changes were stored; at most ten for each execution`,
    {
      key: idKey,
      isDueSql: (days) => sql.part`t.stored_at < now() - ${days}`,
      oldestFirst: sql.part`t.stored_at`,
    },
  ),
  comment_reactions: permanentRetention(writingMembers, 'the row is deleted with its comment'),
  comments: permanentRetention('viewers too', 'the row is deleted with its story'),
  connections: purgedRetention(
    'any member',
    `${retentionDaysVariable} after the connection was revoked or expired`,
    {
      key: idKey,
      isDueSql: (days) => sql.part`least(t.revoked_at, t.expires_at) < now() - ${days}`,
      oldestFirst: sql.part`least(t.revoked_at, t.expires_at)`,
    },
  ),
  contract_stories: cappedRetention(writingMembers, 'one row for each contract and story'),
  contract_versions: permanentRetention(
    writingMembers,
    'stories rest on what was agreed; the row is deleted with its project',
  ),
  contracts: permanentRetention(writingMembers, 'the row is deleted with its project'),
  deleted_records: purgedRetention('leads', 'with its deleted story'),
  deleted_stories: purgedRetention('leads', `${deletedStoryRetentionDays} days after the story was deleted`, {
    key: idKey,
    isDueSql: () =>
      sql.part`t.deleted_at < now() - make_interval(days => ${sql.literal(deletedStoryRetentionDays)})`,
    oldestFirst: sql.part`t.deleted_at`,
  }),
  delivery_group_stories: permanentRetention(leaseHolders, 'the row is deleted with its group'),
  delivery_groups: permanentRetention(leaseHolders, 'the row is deleted with its project'),
  devices: cappedRetention('any member', '50 for each member'),
  epics: permanentRetention(writingMembers, 'the row is deleted with its project'),
  execution_contributors: permanentRetention(
    leaseHolders,
    'the contributors are the authors of the work; the row is deleted with its execution',
  ),
  execution_events: permanentRetention(
    leaseHolders,
    'shows how the work went; the row is deleted with its project',
  ),
  executions: permanentRetention(leaseHolders, 'shows who did the work; the row is deleted with its project'),
  export_files: permanentRetention('viewers too', 'the row is deleted with its export'),
  export_parts: permanentRetention('viewers too', 'the row is deleted with its export'),
  exports: purgedRetention(
    'viewers too',
    `${exportRetentionDays} days after the export was finished, and when ${maxKeptExports} newer ones of the same scope exist`,
    {
      key: idKey,
      isDueSql: () =>
        sql.part`t.finished_at < now() - make_interval(days => ${sql.literal(exportRetentionDays)})`,
      oldestFirst: sql.part`t.finished_at`,
    },
  ),
  forge_checks: purgedRetention('forges', '14 days', {
    key: ['org_id', 'repository_id', 'sha', 'name', 'at', 'state', 'trust'],
    isDueSql: () => sql.part`t.noted_at < now() - interval '14 days'`,
    oldestFirst: sql.part`t.noted_at`,
  }),
  // A connection is purged a day later than its deliveries, so that its deletion cascades to few rows.
  forge_connections: purgedRetention(admins, '15 days after the forge was disconnected', {
    key: idKey,
    isDueSql: () => sql.part`t.deleted_at < now() - interval '15 days'`,
    oldestFirst: sql.part`t.deleted_at`,
  }),
  forge_deliveries: purgedRetention('forges', '14 days', {
    key: idKey,
    isDueSql: () => sql.part`t.received_at < now() - interval '14 days'`,
    oldestFirst: sql.part`t.received_at`,
  }),
  forge_facts: purgedRetention('forges', '14 days, or until the execution of the fact is known', {
    key: idKey,
    isDueSql: () => sql.part`t.parked_at < now() - interval '14 days'`,
    oldestFirst: sql.part`t.parked_at`,
  }),
  forge_observations: permanentRetention(
    leaseHolders,
    'a repeated fact is recognized by its key; the row is deleted with its execution',
  ),
  forge_pulls: cappedRetention('forges', 'one row for each execution'),
  forge_repositories: cappedRetention('leads', '200 for each project'),
  forge_statuses: purgedRetention('forges', '14 days; the status of a head that still exists is sent again', {
    key: ['org_id', 'connection_id', 'external_id', 'sha'],
    isDueSql: () => sql.part`t.changed_at < now() - interval '14 days'`,
    oldestFirst: sql.part`t.changed_at`,
  }),
  gamification_state: cappedRetention('nothing', 'one row for each organization'),
  idempotency_keys: purgedRetention('each write with a key', '24 hours', {
    key: ['org_id', 'token_id', 'operation', 'key'],
    isDueSql: () => sql.part`t.created_at < now() - interval '24 hours'`,
    oldestFirst: sql.part`t.created_at`,
  }),
  identity_provider_domains: permanentRetention(
    'admins',
    'says which e-mail domains an identity provider may sign in',
  ),
  identity_providers: permanentRetention(
    'admins',
    'the members of the organization sign in with the provider',
  ),
  import_items: permanentRetention(
    'leads',
    'identifies an item that is imported again; the row is deleted with its project',
  ),
  imports: permanentRetention('leads', 'shows what was imported; the row is deleted with its project'),
  inbox_items: purgedRetention('work by others', '14 days after the item was written', {
    key: ['org_id', 'recipient_id', 'seq'],
    isDueSql: () => sql.part`t.at < now() - interval '14 days'`,
    oldestFirst: sql.part`t.at`,
  }),
  inbox_streams: cappedRetention('nothing', 'one row for each member and agent'),
  invitations: purgedRetention(
    admins,
    `${retentionDaysVariable} after the invitation was accepted or revoked, or expired`,
    {
      key: idKey,
      isDueSql: (days) =>
        sql.part`case when t.state = 'pending' then t.expires_at else t.updated_at end < now() - ${days}`,
      oldestFirst: sql.part`case when t.state = 'pending' then t.expires_at else t.updated_at end`,
    },
  ),
  leases: cappedRetention(leaseHolders, 'one row for each story and group, to keep the epoch of the lease'),
  lock_counters: cappedRetention('nothing', 'one row for each project'),
  // A lock of an execution is removed only with the execution, because its holder may resume both after they
  // expire.
  locks: purgedRetention(leaseHolders, 'when the lock has expired, or when its execution is deleted', {
    key: idKey,
    isDueSql: () => sql.part`t.execution_id is null and t.expires_at <= now()`,
    oldestFirst: sql.part`t.expires_at`,
  }),
  members: permanentRetention(admins, 'history names the members, also after they have left'),
  notification_counts: cappedRetention('nothing', 'one row for each member, kind and project'),
  notification_digests: cappedRetention('any member', 'one row for each member'),
  notification_preferences: cappedRetention('any member', 'one row for each kind and channel'),
  notification_snoozes: purgedRetention(
    'any member',
    `when the snooze ends; at most ${maxSnoozedNotifications} at the same time for each member`,
    {
      key: ['org_id', 'notification_id'],
      isDueSql: () => sql.part`t.until <= now()`,
      oldestFirst: sql.part`t.until`,
    },
  ),
  notifications: purgedRetention(
    'members who mention or assign',
    `${retentionDaysVariable} after the notification was read; a notification that stays unread counts as read after a year`,
    {
      key: idKey,
      isDueSql: (days) =>
        sql.part`(t.read_at is not null or not t.in_inbox) and coalesce(t.read_at, t.created_at) < now() - ${days}`,
      oldestFirst: sql.part`coalesce(t.read_at, t.created_at)`,
    },
  ),
  orgs: purgedRetention('operators', '30 days after the owner deleted the organization'),
  outbox: purgedRetention(
    'each write',
    'a day after the job was done, 30 days after the job was given up',
    {
      key: idKey,
      isDueSql: () => sql.part`t.done_at < now() - interval '1 day'`,
      oldestFirst: sql.part`t.done_at`,
    },
    {
      key: idKey,
      isDueSql: () => sql.part`t.done_at is null and t.dead_at < now() - interval '30 days'`,
      oldestFirst: sql.part`t.dead_at`,
    },
  ),
  plan_items: permanentRetention(
    writingMembers,
    'identifies a story that is planned again; the row is deleted with its project',
  ),
  plans: permanentRetention(writingMembers, 'the row is deleted with its project'),
  point_days: permanentRetention('the activity', 'a day of a member; the row is deleted with the member'),
  point_entries: permanentRetention(
    'the activity',
    'points are taken back with the entry; the row is deleted with the member',
  ),
  point_resets: cappedRetention(admins, 'one row for each member'),
  point_scores: cappedRetention(
    'the activity',
    'two weeks, two months and all time, for each member and project',
  ),
  point_tallies: cappedRetention('the activity', 'one row for each member and kind'),
  project_counters: cappedRetention('nothing', 'one row for each project'),
  project_members: cappedRetention('leads', 'one row for each member and project'),
  project_teams: cappedRetention('leads', 'one row for each team and project'),
  projects: purgedRetention(admins, 'as soon as the project is deleted'),
  prompts: permanentRetention('leads', 'the row is deleted with its project or organization'),
  rights_epochs: cappedRetention('nothing', 'one row for each organization'),
  run_logs: purgedRetention(
    'agents',
    `${runLogRetentionDays} days; only the newest ${maxRunLogLines} lines of a run`,
    {
      key: ['org_id', 'run_id', 'last_line'],
      isDueSql: () => sql.part`t.at < now() - make_interval(days => ${sql.literal(runLogRetentionDays)})`,
      oldestFirst: sql.part`t.at`,
    },
  ),
  run_usage: purgedRetention('agents', `${retentionDaysVariable} after the run last reported`, {
    key: ['org_id', 'project_id', 'run_id', 'member_id', 'agent_id', 'model', 'currency'],
    isDueSql: (days) => sql.part`t.last_reported_at < now() - ${days}`,
    oldestFirst: sql.part`t.last_reported_at`,
  }),
  search_documents: cappedRetention(writingMembers, 'one row for each story, epic, spec, comment and member'),
  search_words: permanentRetention(
    writingMembers,
    'a word that is used again is not written again; the words are deleted with their organization',
  ),
  seat_ledger: permanentRetention(admins, 'shows what was paid for'),
  seat_usage: cappedRetention('nothing', 'one row for each organization'),
  stories: permanentRetention(writingMembers, 'the row is deleted with its project'),
  story_blockers: permanentRetention(writingMembers, 'the row is deleted with its stories'),
  story_reviewers: permanentRetention(writingMembers, 'the row is deleted with its story'),
  story_selections: cappedRetention('viewers too', '20 for each member'),
  story_specs: permanentRetention(
    writingMembers,
    'verdicts name versions; the row is deleted with its story',
  ),
  story_subscriptions: cappedRetention('viewers too', 'one row for each member and story'),
  streams: cappedRetention('nothing', 'one row for each organization'),
  subscriptions: cappedRetention('operators', 'one row for each organization'),
  team_members: cappedRetention('team leads', 'one row for each member and team'),
  teams: permanentRetention(admins, 'the row is deleted with its organization'),
  tokens: purgedRetention('any member', `${retentionDaysVariable} after the token was revoked or expired`, {
    key: idKey,
    isDueSql: (days) => sql.part`least(t.revoked_at, t.expires_at) < now() - ${days}`,
    oldestFirst: sql.part`least(t.revoked_at, t.expires_at)`,
  }),
  usage_days: permanentRetention(
    'agents',
    'one row for each run, day, story and model; the costs of stories are counted from it',
  ),
  usage_prices: cappedRetention(admins, '1,000 for each organization'),
  views: permanentRetention('members', 'the row is deleted with its owner or project'),
  webhook_deliveries: purgedRetention(
    'the activity',
    `${deliveryRetentionDays} days after the delivery was made or given up`,
    {
      key: idKey,
      isDueSql: () =>
        sql.part`t.done_at < now() - make_interval(days => ${sql.literal(deliveryRetentionDays)})`,
      oldestFirst: sql.part`t.done_at`,
    },
  ),
  webhooks: purgedRetention(admins, 'as soon as the webhook is deleted'),
};

/** Writes the table as Markdown for docs/decisions/retention.md. */
export function retentionTable(): string {
  const rows = Object.entries(retention).map(([table, entry]) => {
    const until =
      entry.retentionKind === 'for good'
        ? entry.because
        : entry.retentionKind === 'capped'
          ? entry.at
          : entry.purgedWhen;
    return `| ${table} | ${entry.growthSource} | ${entry.retentionKind} | ${until} |`;
  });
  return ['| table | who drives its growth | kept | until, or at most |', '| - | - | - | - |', ...rows].join(
    '\n',
  );
}
