/**
 * Requests for changes by reviewers in Muster. They are fresh while they are about the spec and the code that the story has
 * now, as the board judges them.
 */
import { type Db, of, type Part, sql } from '@muster/database';
import { type Rework } from '@muster/registry';
import { isoIn } from './leases.ts';

/** SQL for the fresh requests of a story `s`, as rows of `r`, with the reviewer as the agent `g` or the member `m`. */
const freshRequests = (where: Part): Part => sql.part`from stories s
  join story_reviewers r on ${of('r')} and r.story_id = s.id and r.verdict = 'changes_requested'
    and r.spec_version is not distinct from s.spec_version
    and r.code_seq = case when s.code is null then 0 else (s.code ->> 'seq')::int end
  left join agents g on ${of('g')} and g.id = r.agent_id
  join members m on ${of('m')} and m.id = case when g.id is null then r.member_id else g.member_id end and m.status = 'active'
  where ${of('s')} and ${where}`;

export const hasFreshRequest = (storyId: string): Part =>
  sql.part`exists (select ${freshRequests(sql.part`s.id = ${storyId}`)})`;

/** The newest fresh request for changes of the story that an execution works on. The story is locked before. */
export const findRequest = (db: Db, executionId: string): Promise<Rework | undefined> =>
  db.find(
    sql<Rework>`select r.note, 'muster' as source, ${isoIn(sql.part`r.decided_at`)} as at,
        r.spec_version as "specVersion", r.head_sha as "headSha",
        jsonb_build_object('kind', case when g.id is null then 'member' else 'agent' end,
          'memberId', m.id, 'agentId', g.id, 'name', coalesce(g.name, m.name)) as by
      ${freshRequests(sql.part`s.id in (select e.target_id from executions e
        where ${of('e')} and e.id = ${executionId} and e.target_type = 'story')`)}
      order by r.decided_at desc, r.id limit 1`,
  );
