/**
 * Records the expiry of a lease once: as an event in the execution's stream, and as a domain event for
 * notifications.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { type DomainEvent, isoTimeSql } from '@muster/tenancy';
import { appendEventsSql } from '../leases/events.ts';
import { canTransitionSql } from '../leases/states-sql.ts';
import { transitions } from '../leases/states.ts';
import { type UnitType } from './leases.ts';

/** The story or group that a lease is on, or the group whose coordination it is on. */
export interface LeasedUnit {
  readonly unitType: UnitType;
  readonly unitId: string;
}

interface ExpiryCheckRow {
  /** True if the lease has expired; false if the holder has renewed the lease in the meantime. */
  readonly is_over: boolean;
  readonly unit_type: UnitType;
  readonly unit_id: string;
  readonly project_id: string;
  readonly epoch: number;
  readonly holder: Actor;
  readonly member_id: string;
  readonly agent_id: string | null;
  readonly execution_id: string | null;
  readonly key: string | null;
  readonly title: string | null;
}

/**
 * Marks expired leases. Lock order: leases, then executions by ID. It skips leases that another transaction
 * has locked; the next run handles them. A renewed lease is due again at its new expiry, and a marked one is
 * not found again. Epoch and state stay the same.
 */
const markExpiredLeases = (units: readonly LeasedUnit[], actor: Actor) => sql<ExpiryCheckRow>`
  with due as materialized (
    select l.unit_type, l.unit_id, /*guard: expiry is noted in time*/l.expires_at <= now()/*end*/ as is_over
    from leases l join unnest(${units.map(({ unitType }) => unitType)}::text[],
      ${units.map(({ unitId }) => unitId)}::uuid[]) u (unit_type, unit_id) using (unit_type, unit_id)
    where ${orgFilter('l')} and l.state = 'held' and not l.expiry_noted
    order by l.unit_type, l.unit_id for no key update of l skip locked),
  noted as (
    update leases l set expiry_noted = d.is_over, due_at = l.expires_at from due d
    where ${orgFilter('l')} and l.unit_type = d.unit_type and l.unit_id = d.unit_id
    returning l.unit_type, l.unit_id, l.project_id, l.epoch, l.holder, l.member_id, l.agent_id, l.expires_at, d.is_over),
  locked as materialized (
    select e.id, n.unit_type, n.unit_id, n.epoch, n.holder, n.expires_at
    from noted n join executions e on ${orgFilter('e')} and e.target_type = n.unit_type and e.target_id = n.unit_id
    where n.is_over and ${canTransitionSql('expire')}
    order by e.id for no key update of e),
  counted as (
    update executions e set last_event_seq = e.last_event_seq + 1 from locked k
    where ${orgFilter('e')} and e.id = k.id
    returning e.id, e.last_event_seq, k.unit_type, k.unit_id, k.epoch, k.holder, k.expires_at),
  said as (${appendEventsSql(
    sql.part`(select c.id, c.last_event_seq as seq, ${transitions.expire.event}::text as kind, clock_timestamp() as at,
        jsonb_build_object('epoch', c.epoch, 'holder', c.holder,
          'expiredAt', ${isoTimeSql(sql.part`c.expires_at`)}) as data
      from counted c)`,
    actor,
  )})
  select n.is_over, n.unit_type, n.unit_id, n.project_id, n.epoch, n.holder, n.member_id, n.agent_id, c.id as execution_id,
    case when s.id is not null then p.key || '-' || s.number end as key, coalesce(s.title, g.name) as title
  from noted n join projects p on ${orgFilter('p')} and p.id = n.project_id
  left join counted c on c.unit_type = n.unit_type and c.unit_id = n.unit_id
  left join stories s on n.unit_type = 'story' and ${orgFilter('s')} and s.id = n.unit_id
  left join delivery_groups g on n.unit_type <> 'story' and ${orgFilter('g')} and g.id = n.unit_id`;

/** The result of checking leases for their expiry. */
export interface ExpiryResult {
  /** The number of leases checked: all except those that another transaction has locked or already marked. */
  readonly checkedCount: number;
  /** The events to emit in the same transaction. */
  readonly domainEvents: DomainEvent[];
}

/** Records the expiry of those of the given leases that have expired and are not marked yet. */
export async function recordExpiries(
  db: Db,
  units: readonly LeasedUnit[],
  actor: Actor,
): Promise<ExpiryResult> {
  const rows = await db.all(markExpiredLeases(units, actor));
  return {
    checkedCount: rows.length,
    domainEvents: rows.filter(({ is_over: isOver }) => isOver).map(toExpiryEvent),
  };
}

const toExpiryEvent = (row: ExpiryCheckRow): DomainEvent => ({
  kind: 'lease.expired',
  subject: {
    type: row.unit_type === 'story' ? 'story' : 'delivery_group',
    id: row.unit_id,
    key: row.key,
    title: row.title ?? '',
    projectId: row.project_id,
  },
  data: {
    unitType: row.unit_type,
    executionId: row.execution_id,
    epoch: row.epoch,
    memberId: row.member_id,
    agentId: row.agent_id,
    holderName: row.holder.name,
  },
});
