/** Work under leases that a member or an agent holds. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type HeldWork, maxHeldWork } from '@muster/contract';
import { type Caller, projectsVisibleTo } from '@muster/runtime';

type Row = Omit<HeldWork, 'executionId' | 'runId' | 'expiresAt'> & {
  readonly execution_id: string;
  readonly run_id: string | null;
  readonly expires_at: string | null;
};

export async function findHeldWork(db: Db, caller: Caller): Promise<HeldWork[]> {
  const rows = await db.all(
    sql<Row>`select p.key || '-' || s.number as key, coalesce(s.title, g.name) as title, e.id as execution_id, l.run_id,
         app.shown_state(e.state, l.expires_at, null, clock_timestamp()) as state, l.expires_at
       from leases l
       join executions e on ${orgFilter('e')} and e.target_type = l.unit_type and e.target_id = l.unit_id and e.state <> 'completed'
       left join stories s on ${orgFilter('s')} and l.unit_type = 'story' and s.id = l.unit_id
       left join projects p on ${orgFilter('p')} and p.id = s.project_id
       left join delivery_groups g on ${orgFilter('g')} and l.unit_type = 'delivery_group' and g.id = l.unit_id
       where ${orgFilter('l')} and l.state = 'held' and l.member_id = ${caller.memberId} and l.agent_id is not distinct from ${caller.agentId}::uuid
         and l.project_id in (select v.project_id from ${projectsVisibleTo(caller)} v)
       order by l.granted_at desc, e.id limit ${maxHeldWork}`,
  );
  return rows.flatMap(
    ({ key, title, state, execution_id: executionId, run_id: runId, expires_at: expiresAt }) =>
      // A held lease always has an end.
      expiresAt === null ? [] : [{ key, title, executionId, runId, state, expiresAt }],
  );
}
