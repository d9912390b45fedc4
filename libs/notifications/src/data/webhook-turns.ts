/**
 * The statements of a round of deliveries to an endpoint. Only the worker that holds the endpoint may run
 * them: see webhook-turn.ts.
 */
import { type Db, orgFilter, currentOrgId, type Part, type Query, type RowOf, sql } from '@muster/driver';
import { leadRank, type WebhookTry } from '@muster/contract';
import { notMovingCondition } from '@muster/tenancy';
import { type activityView as activityItems } from './activity.ts';
import { isAdminSql, isNotBudgetEventSql } from './visible.ts';
import { isMakerEntitledSql, type WebhookRow } from './webhooks.ts';

/** The time in seconds for which a worker holds an endpoint after each round of deliveries. */
export const webhookHoldSeconds = 20;
/** The maximum number of pending events of an endpoint. More are added after some of them were delivered. */
export const maxPendingEvents = 1_000;
/**
 * The number of due events above which no more are added, because they are enough for a few rounds of
 * deliveries.
 */
const targetDueEvents = 256;
/** The maximum number of activity entries that one round of deliveries scans. */
export const maxScannedEntries = 500;
const maxStoredTries = 20;

const holdUntilSql = sql.part`now() + make_interval(secs => ${sql.literal(webhookHoldSeconds)})`;

export interface DueWebhook {
  readonly orgId: string;
  readonly id: string;
}

const isFreeWebhookSql = (organizationId: Part): Part => sql.part`w.deleted_at is null
  and (w.worker_until is null or w.worker_until < now())
  and exists (select from orgs o where o.id = ${organizationId} and o.deleted_at is null)`;
/**
 * The condition for endpoints of any organization that no worker holds. `isFree` is the condition for such
 * endpoints of the transaction's organization.
 */
const isFreeInAnyOrganization = isFreeWebhookSql(sql.part`w.org_id`);
const isFreeInThisOrganization = isFreeWebhookSql(sql.part`${currentOrgId}::uuid`);

/** Finds endpoints of any organization that no worker holds and that have something to send or to scan. */
export const dueWebhooksQuery = (maxWebhooks: number): Query<DueWebhook> => sql<DueWebhook>`
  (select w.org_id as "orgId", w.id from webhooks w where w.next_at <= now() and ${isFreeInAnyOrganization} and ${notMovingCondition(sql.part`w.org_id`)} limit ${maxWebhooks})
  union
  (select w.org_id as "orgId", w.id from webhooks w join streams s on s.org_id = w.org_id
   where w.paused_at is null and not w.is_full and w.cursor_seq < s.activity and ${isFreeInAnyOrganization}
     and ${notMovingCondition(sql.part`w.org_id`)} limit ${maxWebhooks})
  union
  (select w.org_id as "orgId", w.id from webhooks w join streams s on s.org_id = w.org_id
   where w.paused_at is null and not w.is_full and w.audit_cursor_seq < s.audit and ${isFreeInAnyOrganization}
     and ${notMovingCondition(sql.part`w.org_id`)} limit ${maxWebhooks})`;

/** The condition that a kind is in the list, either itself or by a pattern such as `story.*`. */
const matchesKindsSql = (kind: Part, kinds: Part): Part =>
  sql.part`(${kind} = any (${kinds}) or split_part(${kind}, '.', 1) || '.*' = any (${kinds}))`;

/**
 * Moves the cursors of the given endpoints past events to which they do not subscribe, if they have nothing
 * to send. One statement replaces a round of deliveries for each endpoint. Returns the endpoints whose cursor
 * was moved. An endpoint whose creator left is excluded, because its next round pauses it.
 */
export const skipUnsubscribedEvents = (ids: readonly string[]): Query<{ readonly id: string }> => sql<{
  id: string;
}>`
  update webhooks w set cursor_seq = s.activity from streams s
  where ${orgFilter('w')} and ${orgFilter('s')} and w.id = any (${ids}::uuid[]) and ${isFreeInThisOrganization} and w.paused_at is null and not w.is_full
    and ${isMakerEntitledSql} and (w.audit_cursor_seq is null or w.audit_cursor_seq >= s.audit)
    and (w.next_at is null or w.next_at > now()) and s.activity - w.cursor_seq between 1 and ${sql.literal(maxScannedEntries)}
    and not exists (select from activity e where ${orgFilter('e')} and e.seq > w.cursor_seq and e.seq <= s.activity
      and ${matchesKindsSql(sql.part`e.kind`, sql.part`w.kinds`)} and (w.project_id is null or e.project_id = w.project_id))
  returning w.id`;

/** Acquires the endpoint and returns the epoch; undefined if another worker holds it. */
export const acquireWebhook = (db: Db, id: string): Promise<{ readonly worker_epoch: number } | undefined> =>
  db.find(
    sql<
      Pick<HeldWebhook, 'worker_epoch'>
    >`update webhooks w set worker_epoch = w.worker_epoch + 1, worker_until = ${holdUntilSql}
      where ${orgFilter('w')} and w.id = ${id} and ${isFreeInThisOrganization}
      returning w.worker_epoch`,
  );

export interface HeldWebhook extends Pick<
  WebhookRow,
  | 'id'
  | 'url'
  | 'project_id'
  | 'kinds'
  | 'send_order'
  | 'secret'
  | 'previous_secret'
  | 'format'
  | 'maker_id'
  | 'paused_at'
  | 'cursor_seq'
  | 'audit_cursor_seq'
  | 'failing'
> {
  readonly sent_seq: number;
  readonly worker_epoch: number;
  /** True if the endpoint's creator is still a member and, if it receives audit entries, an admin. */
  readonly isMakerEntitled: boolean;
  readonly isMakerAdmin: boolean;
  /**
   * The newest positions of the activity and the audit when the rights of the endpoint's creator were
   * checked. The creator may have lost them after that position.
   */
  readonly activityEndSeq: number;
  readonly auditEndSeq: number;
}

/**
 * Extends the worker's hold and locks the endpoint's row. Returns undefined if another worker acquired the
 * endpoint or the endpoint was deleted.
 */
export const extendHold = (db: Db, id: string, epoch: number): Promise<HeldWebhook | undefined> =>
  db.find(
    sql<HeldWebhook>`update webhooks w set worker_until = ${holdUntilSql}
      where ${orgFilter('w')} and w.id = ${id} and w.worker_epoch = ${epoch} and w.deleted_at is null
        and exists (select from orgs o where o.id = ${currentOrgId}::uuid and o.deleted_at is null)
      returning w.id, w.url, w.format, w.project_id, w.kinds, w.send_order, w.secret,
        case when w.previous_until > now() then w.previous_secret end as previous_secret,
        w.maker_id, w.paused_at, w.cursor_seq, w.audit_cursor_seq, w.failing, w.sent_seq, w.worker_epoch,
        ${isMakerEntitledSql} as "isMakerEntitled",
        ${isAdminSql(sql.part`w.maker_id`)} as "isMakerAdmin",
        (select s.activity from streams s where ${orgFilter('s')}) as "activityEndSeq",
        (select s.audit from streams s where ${orgFilter('s')}) as "auditEndSeq"`,
  );

/** The result of an attempt to send a message, in the form in which it is stored. */
export interface DeliveryAttemptResult {
  readonly id: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly tried: WebhookTry;
  readonly answer: string | null;
  /** The delay in seconds until the next attempt; null if there is none. */
  readonly pause: number | null;
}

/**
 * Stores the results of delivery attempts, and returns the ids of the deliveries whose result was stored. A
 * worker that received no answer sends the same result again, which has no effect.
 */
export const storeAttemptResults = (
  results: readonly DeliveryAttemptResult[],
): Query<{ readonly id: string }> => sql<{ id: string }>`
  update webhook_deliveries d set state = /*guard: a message is delivered when its receiver says so*/o.state/*end*/, attempts = d.attempts + 1, answer = o.answer,
    tries = case when jsonb_array_length(d.tries) >= ${sql.literal(maxStoredTries)} then d.tries - 0 else d.tries end || jsonb_build_array(o.tried),
    next_at = now() + make_interval(secs => o.pause), done_at = case when o.state <> 'pending' then now() end
  from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as o (id uuid, state text, tried jsonb, answer text, pause float)
  where ${orgFilter('d')} and d.id = o.id and d.state = 'pending' and (d.tries -> -1) is distinct from o.tried
  returning d.id`;

/** Returns SQL for the projects in which the member has at least this rank. */
const projectsOfMakerSql = (makerId: string, minRank: number): Part =>
  sql.part`(select p.id from projects p join members m on m.org_id = p.org_id
    where ${orgFilter('p')} and m.id = ${makerId}::uuid
      and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) >= ${sql.literal(minRank)})`;

/**
 * Returns the SQL condition that the endpoint's creator, who is a member, may see event `e`. Events of budgets are
 * only for admins and for leads of the budget's project.
 */
const mayReceiveSql = (makerId: string): Part => sql.part`(
  ${isAdminSql(sql.part`${makerId}::uuid`)}
  or ${isNotBudgetEventSql} and (e.project_id is null or e.project_id in ${projectsOfMakerSql(makerId, 1)})
  or e.project_id in ${projectsOfMakerSql(makerId, leadRank)})`;

export interface WebhookTurnResult {
  /** The number of pending events. */
  readonly waiting: number;
  /** True if enough events are due, so that nothing was scanned. */
  readonly isEnough: boolean;
  readonly looked: number;
  readonly lookedUpTo: number | null;
  readonly chosen: number;
  readonly chosenUpTo: number | null;
}

/** One of the two streams that an endpoint can follow, as SQL parts. Its entries have the alias `e`. */
interface FollowedStream {
  readonly table: Part;
  /** The column of a delivery with the entry's position. */
  readonly positionColumn: Part;
  readonly afterSeq: number;
  readonly endSeq: number;
  /** The kind of the entry's message. */
  readonly kind: Part;
  readonly projectId: Part;
  readonly filter: Part;
  /** The condition on a scanned entry that the endpoint's creator may see it. */
  readonly mayReceive: Part;
}

/** The condition that event `e` is sent to channels. Of comments, they receive only questions. */
const isForChatSql = sql.part`(e.kind <> 'comment.created' or e.data ->> 'kind' = 'question')`;

const activityStream = (webhook: HeldWebhook): FollowedStream => ({
  table: sql.part`activity`,
  positionColumn: sql.part`activity_seq`,
  ...{ afterSeq: webhook.cursor_seq, endSeq: webhook.activityEndSeq },
  ...{ kind: sql.part`e.kind`, projectId: sql.part`e.project_id` },
  filter: sql.part`${webhook.project_id === null ? sql.part`true` : sql.part`e.project_id = ${webhook.project_id}::uuid`}
    and ${webhook.format === 'standard' ? sql.part`true` : isForChatSql}`,
  mayReceive: mayReceiveSql(webhook.maker_id),
});

/** The audit, for an endpoint whose creator is an admin. Endpoints of other creators are paused before. */
const auditStream = (webhook: HeldWebhook, after: number): FollowedStream => ({
  table: sql.part`audit`,
  positionColumn: sql.part`audit_seq`,
  ...{ afterSeq: after, endSeq: webhook.auditEndSeq },
  ...{ kind: sql.part`'audit.' || e.outcome`, projectId: sql.part`null::uuid` },
  ...{ filter: sql.part`true`, mayReceive: sql.part`true` },
});

/** Scans the activity after the endpoint's cursor. */
export const scanActivity = (db: Db, webhook: HeldWebhook): Promise<WebhookTurnResult> =>
  scanStream(db, webhook, activityStream(webhook), webhook.sent_seq);

/** Scans the audit after the endpoint's cursor in it. `sentSeq` is the last number that was assigned. */
export const scanAudit = (
  db: Db,
  webhook: HeldWebhook,
  cursor: number,
  sentSeq: number,
): Promise<WebhookTurnResult> => scanStream(db, webhook, auditStream(webhook, cursor), sentSeq);

/**
 * Scans a stream, and assigns the next numbers to entries that the endpoint subscribes to. `next_at` is
 * rounded to milliseconds, so the current time is truncated. If it were rounded up, the event would not be
 * due in this round of deliveries.
 */
function scanStream(
  db: Db,
  webhook: HeldWebhook,
  stream: FollowedStream,
  sentSeq: number,
): Promise<WebhookTurnResult> {
  const kinds = sql.part`${webhook.kinds}::text[]`;
  return db.one(
    sql<WebhookTurnResult>`with waiting as materialized (
        select count(*) as n, count(*) filter (where d.next_at <= now()) >= ${sql.literal(targetDueEvents)} as is_enough from (select d.next_at from webhook_deliveries d
        where ${orgFilter('d')} and d.webhook_id = ${webhook.id} and d.state = 'pending' and d.seq is not null
        limit ${sql.literal(maxPendingEvents)}) d),
      looked as materialized (
        select e.seq, e.id, ${stream.kind} as kind, ${stream.projectId} as project_id, e.at from ${stream.table} e
        where ${orgFilter('e')} and e.seq > ${stream.afterSeq}::bigint and ${stream.filter} and e.seq <= ${stream.endSeq}::bigint
        order by e.seq limit (select case when w.is_enough then 0 else ${sql.literal(maxScannedEntries)} end from waiting w)),
      chosen as materialized (
        select e.*, row_number() over (order by e.seq) as nth from looked e
        where ${matchesKindsSql(sql.part`e.kind`, kinds)} and ${stream.mayReceive}
        order by e.seq limit ${sql.literal(maxPendingEvents)} - (select n from waiting)),
      numbered as (
        insert into webhook_deliveries (org_id, webhook_id, id, seq, ${stream.positionColumn}, event_at, event_id, kind, next_at)
        select ${currentOrgId}, ${webhook.id}::uuid, app.new_id(clock_timestamp()), ${sentSeq}::bigint + c.nth, c.seq, c.at, c.id, c.kind, date_trunc('milliseconds', now())
        from chosen c order by c.seq)
      select (select n from waiting) as waiting, (select is_enough from waiting) as "isEnough", (select count(*) from looked) as looked, (select max(l.seq) from looked l) as "lookedUpTo",
        (select count(*) from chosen) as chosen, (select max(c.seq) from chosen c) as "chosenUpTo"`,
  );
}

type ActivityEventRow = RowOf<typeof activityItems>;

/** A pending delivery with the columns of its event. A test delivery has no event, so these columns are null. */
export type ReadyDeliveryRow = {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly delivery_seq: number | null;
  readonly event_id: string;
  readonly activity_seq: number | null;
  readonly audit_seq: number | null;
  readonly event_at: string;
  readonly attempts: number;
  readonly is_due: boolean;
  readonly may_hear: boolean | null;
} & { readonly [Column in keyof ActivityEventRow]: ActivityEventRow[Column] | null };

const isPendingSql = (id: string, inFlightIds: readonly string[]): Part =>
  sql.part`${orgFilter('d')} and d.webhook_id = ${id} and d.state = 'pending' and d.id <> all (${inFlightIds}::uuid[])`;

/**
 * Reads pending tests and at most `most` events that are due. In strict order it reads the first events, due
 * or not.
 */
export function readReadyDeliveries(
  db: Db,
  webhook: HeldWebhook,
  maxEvents: number,
  inFlightIds: readonly string[],
): Promise<ReadyDeliveryRow[]> {
  const events =
    webhook.send_order === 'strict'
      ? sql.part`d.seq is not null order by d.seq`
      : sql.part`d.seq is not null and d.next_at <= now() order by d.next_at, d.seq`;
  return db.all(
    sql<ReadyDeliveryRow>`select d.id as delivery_id, d.webhook_id, d.seq as delivery_seq, d.event_id, d.activity_seq, d.audit_seq, d.event_at,
        d.attempts, coalesce(d.next_at <= now(), false) as is_due, ${mayReceiveSql(webhook.maker_id)} as may_hear,
        e.id, e.kind, e.actor, e.project_id, e.subject, e.data, e.at
      from ((select d.* from webhook_deliveries d where ${isPendingSql(webhook.id, inFlightIds)} and d.next_at <= now() and d.seq is null limit 16)
        union all (select d.* from webhook_deliveries d where ${isPendingSql(webhook.id, inFlightIds)} and ${events} limit ${maxEvents}::int)) d
      left join activity e on ${orgFilter('e')} and e.seq = d.activity_seq and e.at = d.event_at
      order by d.seq nulls first`,
  );
}

/** The values that are stored in the endpoint's row after a round of deliveries. */
export interface WebhookAfterTurn {
  readonly id: string;
  readonly cursorSeq: number;
  readonly auditCursorSeq: number | null;
  readonly sentSeq: number;
  readonly hasMaxPendingEvents: boolean;
  readonly consecutiveFailures: number;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly isPaused: boolean;
  readonly isStrictOrder: boolean;
  /** True if the worker releases the endpoint for other workers. */
  readonly releasesHold: boolean;
}

const earliestDueSql = (id: string, events: Part): Part => sql.part`least(
  (select min(d.next_at) from webhook_deliveries d where ${orgFilter('d')} and d.webhook_id = ${id} and d.state = 'pending' and d.seq is null),
  ${events})`;

/** Returns SQL for the time at which the endpoint's next delivery is due. */
function nextDueSql({ id, isPaused, isStrictOrder }: WebhookAfterTurn): Part {
  if (isPaused) return earliestDueSql(id, sql.part`null::timestamptz`);
  const waiting = sql.part`from webhook_deliveries d where ${orgFilter('d')} and d.webhook_id = ${id} and d.state = 'pending'`;
  return earliestDueSql(
    id,
    isStrictOrder
      ? sql.part`(select d.next_at ${waiting} and d.seq is not null order by d.seq limit 1)`
      : sql.part`(select min(d.next_at) ${waiting} and d.next_at is not null)`,
  );
}

export const updateWebhookAfterTurn = (end: WebhookAfterTurn): Query<unknown> => sql`
  update webhooks set cursor_seq = ${end.cursorSeq}, audit_cursor_seq = ${end.auditCursorSeq}::bigint, sent_seq = ${end.sentSeq}, is_full = ${end.hasMaxPendingEvents}, failing = ${end.consecutiveFailures},
    last_success_at = coalesce(${end.lastSuccessAt}::timestamptz, last_success_at),
    last_failure_at = coalesce(${end.lastFailureAt}::timestamptz, last_failure_at),
    worker_until = case when ${end.releasesHold}::boolean then null else worker_until end,
    next_at = ${nextDueSql(end)}
  where ${orgFilter()} and id = ${end.id}`;

export const pauseWebhook = (id: string, reason: NonNullable<WebhookRow['paused_reason']>): Query<unknown> =>
  sql`update webhooks set paused_at = now(), paused_reason = ${reason}, updated_at = now(), version = version + 1
     where ${orgFilter()} and id = ${id}`;
