/** Ends the work of many executions in one statement. */
import { type Db, type Id, of, sql } from '@muster/driver';
import { type Actor } from '@muster/registry';
import { isOpenSql } from '../leases/states-sql.ts';
import { stepAll } from '../leases/write-step.ts';
import { noHolder } from './leases.ts';
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
export function endWorkIn(db: Db, project: Id, actor: Actor): Promise<EndedWork[]> {
  return db.all(
    sql`with held as materialized (
         select l.unit_type, l.unit_id, l.member_id, l.agent_id from leases l
         where ${of('l')} and l.project_id = ${project} and l.state = 'held'
         order by l.unit_type, l.unit_id for no key update),
       freed as (update leases l set ${noHolder} from held h
         where ${of('l')} and l.unit_type = h.unit_type and l.unit_id = h.unit_id),
       open as materialized (
         select e.id from executions e
         where ${of('e')} and e.project_id = ${project} and ${isOpenSql}
         order by e.id for no key update),
       ${stepAll('cancel', {
         chosen: sql.part`e.id in (select o.id from open o)`,
         actor,
         data: sql.part`'{"outcome": "canceled", "reason": "project deleted"}'::jsonb`,
       })},
       unlocked_besides as (delete from locks k
         where ${of('k')} and k.project_id = ${project} and k.execution_id is null)
       select d.id as "executionId", d.target_type as type, d.target_id as id, d.project_id as "projectId",
         p.key || '-' || s.number as key, coalesce(s.title, g.name, '') as title,
         h.member_id as "memberId", h.agent_id as "agentId"
       from stepped d join projects p on ${of('p')} and p.id = d.project_id
       left join held h on h.unit_type = d.target_type and h.unit_id = d.target_id
       left join stories s on d.target_type = 'story' and ${of('s')} and s.id = d.target_id
       left join delivery_groups g
         on d.target_type = 'delivery_group' and ${of('g')} and g.id = d.target_id
       order by d.id`,
  );
}
