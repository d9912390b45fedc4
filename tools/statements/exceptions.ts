/** The exceptions that the specs of statements allow, each with its reason. */

/** Statements that random calls do not reach: their number per file, and the reason. */
export const unreached: Readonly<Record<string, readonly [number, string]>> = {
  'apps/delivery-worker/src/figures.ts': [1, 'a figure is looked up when it is scraped'],
  'apps/delivery-worker/src/purge.ts': [3, 'it names a table that has a rule, and any text is none'],
  'apps/sign-in/src/data/links.ts': [3, 'what a browser sends is parsed first'],
  'apps/sign-in/src/data/sessions.ts': [4, 'what a browser sends is parsed first'],
  'libs/attachments/src/storage/open-storage.ts': [1, 'a readiness check sends it'],
  'libs/board/src/data/ranks.ts': [2, 'they make room between the ranks of two stories'],
  'libs/tenancy/src/activity-followers.ts': [3, 'they are asked by a timer'],
  'libs/tenancy/src/followers.ts': [2, 'they are sent by a timer'],
  'libs/placement/src/copies.ts': [12, 'they are sent where there are several servers'],
  'libs/placement/src/nodes.ts': [1, 'it is sent where there are several servers'],
  'libs/placement/src/placing.ts': [5, 'they are sent where there are several servers'],
  'libs/placement/src/platform.ts': [1, 'it is sent where there are several servers'],
  'libs/driver/src/record.ts': [1, 'it is made by each description of a record'],
  'libs/tenancy/src/removal.ts': [4, 'they name tables as the catalogue of Postgres has them'],
  'libs/placement/src/sign-in.ts': [2, 'it is sent where there are several servers'],
  'libs/tenancy/src/standby.ts': [2, 'they are sent where there is a standby'],
  'libs/tenancy/src/system.ts': [1, 'it is sent where there are several servers'],
  'libs/driver/src/trace.ts': [1, 'it is sent in traced calls alone'],
  'libs/delivery/src/data/executions.ts': [1, 'a write without events has no words of its own'],
  'libs/delivery/src/operations/deliveryExecutions/handoff.ts': [1, 'it is inside a handler'],
  'libs/delivery/src/operations/deliveryExecutions/update.ts': [1, 'it is inside a handler'],
  'libs/board/src/unblock-reactions.ts': [3, 'they follow from events of one kind'],
  'libs/delivery/src/reactions.ts': [7, 'they follow from events of one kind'],
  'libs/delivery/src/rework-reactions.ts': [3, 'they follow from events of one kind'],
  'libs/forges/src/make-app.ts': [1, 'it follows what a forge answered'],
  'libs/gamification/src/operations/gamification/reset.ts': [1, 'it is inside a handler'],
  'libs/organizations/src/accounts/begin.ts': [2, 'what a person calls an organization is parsed first'],
  'libs/organizations/src/operators/nodes.ts': [2, 'what an operator names has to be a server'],
  'libs/organizations/src/operators/organizations.ts': [3, 'what an operator gives is parsed first'],
  'libs/organizations/src/operators/tokens.ts': [6, 'what an operator gives is parsed first'],
  'libs/runtime/src/as-system.ts': [1, 'it is asked in a transaction of the system'],
  'libs/runtime/src/attempt.ts': [2, 'they are asked of a call in its transaction'],
  'libs/runtime/src/references.ts': [1, 'only a call that has a name in place of an id asks it'],
  'libs/runtime/src/execute.ts': [2, 'they are asked of a call in its transaction'],
};

/** Columns that can be null in their table but never are in these rows. */
export const neverNull: Readonly<Record<string, readonly [readonly string[], string]>> = {
  'libs/board/src/data/live-leases.ts': [['holder', 'expiresAt'], 'a lease that is held has both'],
  'libs/delivery/src/data/expiries.ts': [['holder', 'member_id'], 'a lease that is held has both'],
  'libs/delivery/src/data/granting-locks.ts': [['executionId'], 'it reads what goes with an execution'],
  'libs/forges/src/data/quiet-pulls.ts': [
    ['externalId', 'number', 'credentials'],
    'it reads what can be asked about',
  ],
  'libs/forges/src/data/statuses.ts': [
    ['credentials', 'externalId', 'sha'],
    'it reads heads that can be told',
  ],
  'libs/organizations/src/data/tokens.ts': [['expires_at'], 'a token is made with its end'],
  'libs/organizations/src/operators/dead-jobs.ts': [['deadAt'], 'it reads those that died'],
  'libs/organizations/src/operators/tokens.ts': [['revokedAt'], 'it was written right then'],
};

/**
 * Statements that are not limited to one organization: their number per file, and the reason. If
 * organizations are spread over several servers, these statements run on every server.
 */
export const overOrganizations: Readonly<Record<string, readonly [number, string]>> = {
  'apps/delivery-worker/src/abandoned-runs.ts': [1, 'in which organizations a run was silent for too long'],
  'apps/delivery-worker/src/figures.ts': [4, 'figures are of the installation'],
  'apps/delivery-worker/src/months.ts': [1, 'a month goes when no organization keeps it any more'],
  'apps/delivery-worker/src/relay.ts': [2, 'what is due anywhere, claimed and given back'],
  'apps/delivery-worker/src/purge.ts': [1, 'in which organizations notifications are too old'],
  'apps/delivery-worker/src/remove.ts': [3, 'what was deleted anywhere'],
  'apps/delivery-worker/src/seats.ts': [1, 'which organizations there are'],
  'apps/delivery-worker/src/sweep.ts': [2, 'which leases expired, and when the next one does'],
  'apps/delivery-worker/src/token-ends.ts': [1, 'in which organizations tokens end soon'],
  'libs/forges/src/data/quiet-pulls.ts': [1, 'which pull requests are to be asked about'],
  'libs/organizations/src/data/identity-providers.ts': [
    1,
    'in which organizations domains are looked for again',
  ],
  'libs/organizations/src/operators/after-loss.ts': [1, 'operators go through all organizations'],
  'libs/organizations/src/operators/dead-jobs.ts': [2, 'operators look for dead jobs'],
  'libs/organizations/src/operators/nodes.ts': [1, 'how many organizations a server has'],
  'libs/organizations/src/operators/operate.ts': [2, 'operators name an organization by its slug'],
  'libs/organizations/src/operators/organizations.ts': [1, 'operators list organizations'],
};

/**
 * The statements of `overOrganizations` that write: their number per file. The list must become empty,
 * because one statement reaches only one server.
 */
export const writingOverOrganizations: Readonly<Record<string, number>> = {
  'apps/delivery-worker/src/relay.ts': 2,
};
