/** Statements of a worker's turn at an endpoint. Each is of the worker that holds it: see webhook-turn.ts. */
import { type Db, of, organization, type Part, type Query, type RowOf, sql } from '@muster/driver';
import { type WebhookTry } from '@muster/registry';
import { isSettled } from '@muster/tenancy';
import { type items as activityItems } from './activity.ts';
import { type WebhookRow } from './webhooks.ts';

/** A worker has an endpoint for so long after each of its turns. */
export const holdSeconds = 20;
/** So many events wait at an endpoint at most; more are taken up when some of them were delivered. */
export const mostWaiting = 1_000;
/** Where so many of them can be sent at once, none is taken up: a few turns have enough to send. */
const enoughDue = 256;
/** Entries of the activity that one turn looks at. */
export const mostLookedAt = 500;
const mostTriesKept = 20;

const held = sql.part`now() + make_interval(secs => ${sql.literal(holdSeconds)})`;

export interface DueWebhook {
  readonly orgId: string;
  readonly id: string;
}

const isFreeOf = (organizationId: Part): Part => sql.part`w.deleted_at is null
  and (w.worker_until is null or w.worker_until < now())
  and exists (select from orgs o where o.id = ${organizationId} and o.deleted_at is null)`;
/** Of any organization, and of that of the transaction. */
const isFreeAnywhere = isFreeOf(sql.part`w.org_id`);
const isFree = isFreeOf(sql.part`${organization}::uuid`);

/** Endpoints of any organization that no worker has, and that have something to send or to look at. */
export const dueWebhooks = (most: number): Query<DueWebhook> => sql<DueWebhook>`
  (select w.org_id as "orgId", w.id from webhooks w where w.next_at <= now() and ${isFreeAnywhere} and ${isSettled(sql.part`w.org_id`)} limit ${most})
  union
  (select w.org_id as "orgId", w.id from webhooks w join streams s on s.org_id = w.org_id
   where w.paused_at is null and not w.is_full and w.cursor_seq < s.activity and ${isFreeAnywhere}
     and ${isSettled(sql.part`w.org_id`)} limit ${most})`;

/**
 * Moves endpoints of the organization that have nothing to send past what happened, where they are to hear of none of it:
 * one statement in place of a turn for each. Answers which moved. One whose maker left takes its turn, and is paused.
 */
export const passOver = (ids: readonly string[]): Query<{ readonly id: string }> => sql<{ id: string }>`
  update webhooks w set cursor_seq = s.activity from streams s
  where ${of('w')} and ${of('s')} and w.id = any (${ids}::uuid[]) and ${isFree} and w.paused_at is null and not w.is_full
    and exists (select from members m where ${of('m')} and m.id = w.maker_id and m.status = 'active')
    and (w.next_at is null or w.next_at > now()) and s.activity - w.cursor_seq between 1 and ${sql.literal(mostLookedAt)}
    and not exists (select from activity e where ${of('e')} and e.seq > w.cursor_seq and e.seq <= s.activity
      and e.kind = any (w.kinds) and (w.project_id is null or e.project_id = w.project_id))
  returning w.id`;

/** Takes the endpoint, and answers the epoch; undefined where another worker has it. */
export const hold = (db: Db, id: string): Promise<{ readonly worker_epoch: number } | undefined> =>
  db.find(
    sql<
      Pick<HeldWebhook, 'worker_epoch'>
    >`update webhooks w set worker_epoch = w.worker_epoch + 1, worker_until = ${held}
      where ${of('w')} and w.id = ${id} and ${isFree}
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
  | 'maker_id'
  | 'paused_at'
  | 'cursor_seq'
  | 'failing'
> {
  readonly sent_seq: number;
  readonly worker_epoch: number;
  readonly makerIsMember: boolean;
  /** Where the activity stood when its maker was looked at: beyond that, the maker may have left. */
  readonly stands: number;
}

/** Goes on holding it; undefined where another worker has taken it since, or it is deleted. Locks its row. */
export const keepHolding = (db: Db, id: string, epoch: number): Promise<HeldWebhook | undefined> =>
  db.find(
    sql<HeldWebhook>`update webhooks w set worker_until = ${held}
      where ${of('w')} and w.id = ${id} and w.worker_epoch = ${epoch} and w.deleted_at is null
        and exists (select from orgs o where o.id = ${organization}::uuid and o.deleted_at is null)
      returning w.id, w.url, w.project_id, w.kinds, w.send_order, w.secret,
        case when w.previous_until > now() then w.previous_secret end as previous_secret,
        w.maker_id, w.paused_at, w.cursor_seq, w.failing, w.sent_seq, w.worker_epoch,
        exists (select from members m where ${of('m')} and m.id = w.maker_id and m.status = 'active') as "makerIsMember",
        (select s.activity from streams s where ${of('s')}) as stands`,
  );

/** What became of a try. */
export interface Settled {
  readonly id: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly tried: WebhookTry;
  readonly answer: string | null;
  /** Seconds until the next try; null where there is none. */
  readonly pause: number | null;
}

/** Answers which are settled by it: a worker that did not hear that a try was kept says it again. */
export const settle = (settled: readonly Settled[]): Query<{ readonly id: string }> => sql<{ id: string }>`
  update webhook_deliveries d set state = /*guard: a message is delivered when its receiver says so*/o.state/*end*/, attempts = d.attempts + 1, answer = o.answer,
    tries = case when jsonb_array_length(d.tries) >= ${sql.literal(mostTriesKept)} then d.tries - 0 else d.tries end || jsonb_build_array(o.tried),
    next_at = now() + make_interval(secs => o.pause), done_at = case when o.state <> 'pending' then now() end
  from jsonb_to_recordset(${JSON.stringify(settled)}::jsonb) as o (id uuid, state text, tried jsonb, answer text, pause float)
  where ${of('d')} and d.id = o.id and d.state = 'pending' and (d.tries -> -1) is distinct from o.tried
  returning d.id`;

/** SQL for the condition that the maker, who is a member, may see what belongs to this project. */
const mayHear = (makerId: string, projectId: Part): Part => sql.part`(
  ${projectId} is null
  or (select m.role in ('owner', 'admin') from members m where ${of('m')} and m.id = ${makerId}::uuid)
  or ${projectId} in (select p.id from projects p join members m on m.org_id = p.org_id
    where ${of('p')} and m.id = ${makerId}::uuid and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null))`;

export interface Walked {
  /** Events that wait already. */
  readonly waiting: number;
  /** So many of them can be sent that nothing was looked at. */
  readonly isEnough: boolean;
  readonly looked: number;
  readonly lookedUpTo: number | null;
  readonly chosen: number;
  readonly chosenUpTo: number | null;
}

/**
 * Looks through the activity after the endpoint's place, and gives what it is to hear of the next numbers. The column of
 * times rounds to milliseconds, so what is due now is cut to them: rounded up, it would not be due in this turn.
 */
export function walkOn(db: Db, w: HeldWebhook): Promise<Walked> {
  const stream: Part[] = [of('e'), sql.part`e.seq > ${w.cursor_seq}::bigint`];
  if (w.project_id !== null) stream.push(sql.part`e.project_id = ${w.project_id}::uuid`);
  return db.one(
    sql<Walked>`with waiting as materialized (
        select count(*) as n, count(*) filter (where d.next_at <= now()) >= ${sql.literal(enoughDue)} as is_enough from (select d.next_at from webhook_deliveries d
        where ${of('d')} and d.webhook_id = ${w.id} and d.state = 'pending' and d.seq is not null
        limit ${sql.literal(mostWaiting)}) d),
      looked as materialized (
        select e.seq, e.id, e.kind, e.project_id, e.at from activity e
        where ${sql.join(stream, ' and ')} and e.seq <= ${w.stands}::bigint
        order by e.seq limit (select case when w.is_enough then 0 else ${sql.literal(mostLookedAt)} end from waiting w)),
      chosen as materialized (
        select l.*, row_number() over (order by l.seq) as nth from looked l
        where l.kind = any (${w.kinds}::text[]) and ${mayHear(w.maker_id, sql.part`l.project_id`)}
        order by l.seq limit ${sql.literal(mostWaiting)} - (select n from waiting)),
      numbered as (
        insert into webhook_deliveries (org_id, webhook_id, id, seq, activity_seq, event_at, event_id, kind, next_at)
        select ${organization}, ${w.id}::uuid, app.new_id(clock_timestamp()), ${w.sent_seq}::bigint + c.nth, c.seq, c.at, c.id, c.kind, date_trunc('milliseconds', now())
        from chosen c order by c.seq)
      select (select n from waiting) as waiting, (select is_enough from waiting) as "isEnough", (select count(*) from looked) as looked, (select max(l.seq) from looked l) as "lookedUpTo",
        (select count(*) from chosen) as chosen, (select max(c.seq) from chosen c) as "chosenUpTo"`,
  );
}

type EventRow = RowOf<typeof activityItems>;

/** What waits, with its event; of a test that is all null. */
export type ReadyRow = {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly delivery_seq: number | null;
  readonly event_id: string;
  readonly activity_seq: number | null;
  readonly event_at: string;
  readonly attempts: number;
  readonly is_due: boolean;
  readonly may_hear: boolean | null;
} & { readonly [Column in keyof EventRow]: EventRow[Column] | null };

const waits = (id: string, inFlight: readonly string[]): Part =>
  sql.part`${of('d')} and d.webhook_id = ${id} and d.state = 'pending' and d.id <> all (${inFlight}::uuid[])`;

/** So many events that are due, or in strict order the first ones, due or not; and tests. */
export function takeReady(
  db: Db,
  w: HeldWebhook,
  most: number,
  inFlight: readonly string[],
): Promise<ReadyRow[]> {
  const events =
    w.send_order === 'strict'
      ? sql.part`d.seq is not null order by d.seq`
      : sql.part`d.seq is not null and d.next_at <= now() order by d.next_at, d.seq`;
  return db.all(
    sql<ReadyRow>`select d.id as delivery_id, d.webhook_id, d.seq as delivery_seq, d.event_id, d.activity_seq, d.event_at,
        d.attempts, coalesce(d.next_at <= now(), false) as is_due, ${mayHear(w.maker_id, sql.part`e.project_id`)} as may_hear,
        e.id, e.kind, e.actor, e.project_id, e.subject, e.data, e.at
      from ((select d.* from webhook_deliveries d where ${waits(w.id, inFlight)} and d.next_at <= now() and d.seq is null limit 16)
        union all (select d.* from webhook_deliveries d where ${waits(w.id, inFlight)} and ${events} limit ${most}::int)) d
      left join activity e on ${of('e')} and e.seq = d.activity_seq and e.at = d.event_at
      order by d.seq nulls first`,
  );
}

/** What the endpoint's row has to keep of a turn. */
export interface TurnEnd {
  readonly id: string;
  readonly cursorSeq: number;
  readonly sentSeq: number;
  readonly isFull: boolean;
  readonly failing: number;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly isPaused: boolean;
  readonly isStrict: boolean;
  /** Other workers may have it. */
  readonly lets: boolean;
}

const dueOf = (id: string, events: Part): Part => sql.part`least(
  (select min(d.next_at) from webhook_deliveries d where ${of('d')} and d.webhook_id = ${id} and d.state = 'pending' and d.seq is null),
  ${events})`;

/** When the endpoint has something to send next. */
function nextDue({ id, isPaused, isStrict }: TurnEnd): Part {
  if (isPaused) return dueOf(id, sql.part`null::timestamptz`);
  const waiting = sql.part`from webhook_deliveries d where ${of('d')} and d.webhook_id = ${id} and d.state = 'pending'`;
  return dueOf(
    id,
    isStrict
      ? sql.part`(select d.next_at ${waiting} and d.seq is not null order by d.seq limit 1)`
      : sql.part`(select min(d.next_at) ${waiting} and d.next_at is not null)`,
  );
}

export const endTurn = (end: TurnEnd): Query<unknown> => sql`
  update webhooks set cursor_seq = ${end.cursorSeq}, sent_seq = ${end.sentSeq}, is_full = ${end.isFull}, failing = ${end.failing},
    last_success_at = coalesce(${end.lastSuccessAt}::timestamptz, last_success_at),
    last_failure_at = coalesce(${end.lastFailureAt}::timestamptz, last_failure_at),
    worker_until = case when ${end.lets}::boolean then null else worker_until end,
    next_at = ${nextDue(end)}
  where ${of()} and id = ${end.id}`;

export const pauseHeld = (id: string, reason: NonNullable<WebhookRow['paused_reason']>): Query<unknown> =>
  sql`update webhooks set paused_at = now(), paused_reason = ${reason}, updated_at = now(), version = version + 1
     where ${of()} and id = ${id}`;
