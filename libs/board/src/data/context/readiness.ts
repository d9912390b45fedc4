/**
 * The section that says if the caller can begin: the rules of the board, the current holder, and a stop for
 * agents.
 */
import { of, sql } from '@muster/driver';
import { readinessOf } from '../../rules/readiness.ts';
import { boardFactsColumns, type BoardFactsRow, boardFactsTables, toBoardFacts } from '../readiness-facts.ts';
import { type Section, whole } from './scope.ts';

interface Row extends BoardFactsRow {
  readonly lease_held: boolean;
  readonly stop_requested: boolean;
}

export const readiness: Section<'readiness'> = async ({ db, caller, storyId, policy }) => {
  const [row, rules] = await Promise.all([
    db.get(
      sql<Row>`select ${boardFactsColumns},
           exists (select from leases l where ${of('l')} and (l.unit_type, l.unit_id) in
               (select 'story', s.id union all select 'delivery_group', d.group_id from delivery_group_stories d
                 where ${of('d')} and d.story_id = s.id and d.open)
             and l.state = 'held' and l.expires_at > clock_timestamp()
             and (l.member_id, l.agent_id) is distinct from (${caller.memberId}::uuid, ${caller.agentId}::uuid)) as lease_held,
           ${caller.agentId}::uuid is not null and exists (select from executions e where ${of('e')}
             and e.target_type = 'story' and e.target_id = s.id and e.stop_requested is not null) as stop_requested
         from stories s ${boardFactsTables}
         where ${of('s')} and s.id = ${storyId}`,
    ),
    policy(),
  ]);
  const facts = { ...toBoardFacts(row), leaseHeld: row.lease_held, stopRequested: row.stop_requested };
  return whole(readinessOf(facts, rules));
};
