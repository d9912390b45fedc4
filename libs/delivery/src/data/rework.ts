/**
 * Requests for changes by reviewers in Muster. A request is fresh while it is about the story's current spec
 * and code, by the board's rules.
 */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { type Rework } from '@muster/contract';
import { isoTimeSql } from '@muster/tenancy';
import { storyIdsOfExecutionSql } from './targets.ts';

/** Returns SQL for the fresh requests `r` of the stories `s`, with the reviewing agent `g` or member `m`. */
const freshChangeRequestsSql = (storyCondition: Part): Part => sql.part`from stories s
  join story_reviewers r on ${orgFilter('r')} and r.story_id = s.id and r.verdict = 'changes_requested'
    and r.imported_by is null
    and r.spec_version is not distinct from s.spec_version
    and r.code_seq = case when s.code is null then 0 else (s.code ->> 'seq')::int end
  left join agents g on ${orgFilter('g')} and g.id = r.agent_id
  join members m on ${orgFilter('m')} and m.id = case when g.id is null then r.member_id else g.member_id end and m.status = 'active'
  where ${orgFilter('s')} and ${storyCondition}`;

/**
 * Returns SQL for the newest fresh request for changes of an execution's stories, as JSON; null without one.
 */
export const newestChangeRequestSql = (executionId: string): Part =>
  sql.part`(select jsonb_build_object('note', r.note, 'source', 'muster', 'at', ${isoTimeSql(sql.part`r.decided_at`)},
      'specVersion', r.spec_version, 'headSha', r.head_sha,
      'by', jsonb_build_object('kind', case when g.id is null then 'member' else 'agent' end,
        'memberId', m.id, 'agentId', g.id, 'name', coalesce(g.name, m.name)))
    ${freshChangeRequestsSql(sql.part`s.id in (${storyIdsOfExecutionSql(executionId)})`)}
    order by r.decided_at desc, r.id limit 1)`;

/**
 * Reads the newest fresh request for changes of an execution's stories. The caller locks the stories first.
 */
export const findChangeRequest = async (db: Db, executionId: string): Promise<Rework | null> =>
  (await db.one(sql<{ request: Rework | null }>`select ${newestChangeRequestSql(executionId)} as request`))
    .request;
