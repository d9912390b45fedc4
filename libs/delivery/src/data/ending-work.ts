/** Ends the work of many executions in one statement. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { isOpenSql } from '../leases/states-sql.ts';
import { applyTransitionToManySql } from '../leases/write-step.ts';
import { clearHolderSql } from './leases.ts';
import { type DeliveryTarget } from './targets.ts';

/** Work that was open, with its holder, if it had one. */
export interface EndedWork extends Pick<DeliveryTarget, 'type' | 'id' | 'key' | 'title' | 'projectId'> {
  readonly executionId: string;
  readonly memberId: string | null;
  readonly agentId: string | null;
}

/**
 * Cancels all work in a project and frees its locks. Locks leases before executions, as every transaction
 * does. Returns the work that was open.
 */
export function endWorkInProject(db: Db, projectId: IdOrSql, actor: Actor): Promise<EndedWork[]> {
  return db.all(
    sql`with held as materialized (
         select l.unit_type, l.unit_id, l.member_id, l.agent_id from leases l
         where ${orgFilter('l')} and l.project_id = ${projectId} and l.state = 'held'
         order by l.unit_type, l.unit_id for no key update),
       freed as (update leases l set ${clearHolderSql} from held h
         where ${orgFilter('l')} and l.unit_type = h.unit_type and l.unit_id = h.unit_id),
       open as materialized (
         select e.id from executions e
         where ${orgFilter('e')} and e.project_id = ${projectId} and ${isOpenSql}
         order by e.id for no key update),
       ${applyTransitionToManySql('cancel', {
         chosen: sql.part`e.id in (select o.id from open o)`,
         actor,
         data: sql.part`'{"outcome": "canceled", "reason": "project deleted"}'::jsonb`,
       })},
       unlocked_besides as (delete from locks k
         where ${orgFilter('k')} and k.project_id = ${projectId} and k.execution_id is null)
       select d.id as "executionId", d.target_type as type, d.target_id as id, d.project_id as "projectId",
         p.key || '-' || s.number as key, coalesce(s.title, g.name, '') as title,
         h.member_id as "memberId", h.agent_id as "agentId"
       from stepped d join projects p on ${orgFilter('p')} and p.id = d.project_id
       left join held h on h.unit_type = d.target_type and h.unit_id = d.target_id
       left join stories s on d.target_type = 'story' and ${orgFilter('s')} and s.id = d.target_id
       left join delivery_groups g
         on d.target_type = 'delivery_group' and ${orgFilter('g')} and g.id = d.target_id
       order by d.id`,
  );
}
