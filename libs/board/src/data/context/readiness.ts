/**
 * The section that says if the caller can begin: the rules of the board, the current holder, and a stop for
 * agents.
 */
import { orgFilter, sql } from '@muster/driver';
import { computeReadiness } from '../../rules/readiness.ts';
import { boardFactsColumns, type BoardFactsRow, boardFactsTables, toBoardFacts } from '../readiness-facts.ts';
import { type SectionReader, toCompleteSection } from './scope.ts';

interface StoryReadinessRow extends BoardFactsRow {
  readonly lease_held: boolean;
  readonly stop_requested: boolean;
}

export const readReadiness: SectionReader<'readiness'> = async ({ db, caller, storyId, loadPolicy }) => {
  const [row, rules] = await Promise.all([
    db.get(
      sql<StoryReadinessRow>`select ${boardFactsColumns},
           exists (select from leases l where ${orgFilter('l')} and (l.unit_type, l.unit_id) in
               (select 'story', s.id union all select 'delivery_group', d.group_id from delivery_group_stories d
                 where ${orgFilter('d')} and d.story_id = s.id and d.open)
             and l.state = 'held' and l.expires_at > clock_timestamp()
             and (l.member_id, l.agent_id) is distinct from (${caller.memberId}::uuid, ${caller.agentId}::uuid)) as lease_held,
           ${caller.agentId}::uuid is not null and exists (select from executions e where ${orgFilter('e')}
             and e.target_type = 'story' and e.target_id = s.id and e.stop_requested is not null) as stop_requested
         from stories s ${boardFactsTables}
         where ${orgFilter('s')} and s.id = ${storyId}`,
    ),
    loadPolicy(),
  ]);
  const facts = { ...toBoardFacts(row), leaseHeld: row.lease_held, stopRequested: row.stop_requested };
  return toCompleteSection(computeReadiness(facts, rules));
};
