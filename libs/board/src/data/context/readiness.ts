/** Whether work can begin: what the rules ask of the board. */
import { of, sql } from '@muster/database';
import { type Readiness, type StoryStatus } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { readinessOf } from '../../rules/readiness.ts';
import { firstColumn } from '../ranks.ts';
import { type Section, whole } from './scope.ts';

interface Row {
  readonly archived: boolean;
  readonly status: StoryStatus;
  readonly is_blocked: boolean;
  readonly spec_version: number;
  readonly blockers: Readiness['openBlockers'] | null;
  readonly column_id: string | null;
  readonly wip_limit: number | null;
  readonly story_count: number | null;
  readonly lease_held: boolean;
  readonly stop_requested: boolean;
}

export const readiness: Section<'readiness'> = async ({ db, caller, storyId, policy }) => {
  const [row, rules] = await Promise.all([
    db.find(
      sql<Row>`select p.archived_at is not null as archived, s.status, 
           exists (select from members u where u.org_id = s.org_id and u.id = (s.blocked ->> 'unblockerMemberId')::uuid
             and u.status = 'active') as is_blocked, s.spec_version,
           exists (select from leases l where l.org_id = s.org_id and (l.unit_type, l.unit_id) in
               (select 'story', s.id union all select 'delivery_group', d.group_id from delivery_group_stories d
                 where d.org_id = s.org_id and d.story_id = s.id and d.open)
             and l.state = 'held' and l.expires_at > clock_timestamp()
             and (l.member_id, l.agent_id) is distinct from (${caller.memberId}::uuid, ${caller.agentId}::uuid)) as lease_held,
           exists (select from executions e where e.org_id = s.org_id and e.target_type = 'story' and e.target_id = s.id
             and e.state <> 'completed' and e.stop_requested is not null) as stop_requested,
           c.id as column_id, c.wip_limit, c.story_count,
           (select json_agg(json_build_object('id', o.id, 'key', p.key || '-' || o.number, 'title', o.title, 'status', o.status) order by o.id)
            from story_blockers b join stories o on o.org_id = b.org_id and o.id = b.blocker_id
            where b.org_id = s.org_id and b.story_id = s.id) as blockers
         from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
         left join board_columns c on c.org_id = s.org_id and c.id = ${firstColumn(sql.part`s.project_id`, 'in_progress')}
         where ${of('s')} and s.id = ${storyId}`,
    ),
    policy(),
  ]);
  if (row === undefined) throw notFound();
  const column =
    row.column_id === null ? null : { wipLimit: row.wip_limit, storyCount: row.story_count ?? 0 };
  return whole(
    readinessOf(
      {
        archived: row.archived,
        status: row.status,
        isBlocked: row.is_blocked,
        specVersion: row.spec_version,
        blockers: row.blockers ?? [],
        column,
        leaseHeld: row.lease_held,
        stopRequested: row.stop_requested,
      },
      rules,
    ),
  );
};
