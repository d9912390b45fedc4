/**
 * Builds SQL for records: by id, by the target that the authorization check found, or by the reference that a
 * caller gave.
 */
import { orgFilter, type Part, sql } from '@muster/driver';
import { isUuid } from '@muster/contract';

/**
 * The id of the record that the call of this transaction concerns. The authorization check sets it before the
 * statement runs, though not before the statement is written: both are sent in one round trip. The sub-select
 * makes the planner plan for any record. With the bare function it would use the value at plan time, and plan
 * for a project that may be empty.
 */
export const targetIdSql: Part = sql.part`(select app.target_id())`;

const linkedRepositoryExists = (condition: Part): Part => sql.part`exists (select from forge_repositories r
  join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null
  where ${orgFilter('r')} and ${condition})`;

/** True if a repository of a connected forge is linked to the call's project or, without a project, to any project. */
export const hasLinkedRepository: Part = linkedRepositoryExists(
  sql.part`((select app.project_id()) is null or r.project_id = (select app.project_id()))`,
);

/** True if a repository of a connected forge is linked to this project. */
export const hasRepositoryLinkedTo = (projectId: Part): Part =>
  linkedRepositoryExists(sql.part`r.project_id = ${projectId}`);

/** Returns SQL for the id of the project that an id or a key names. */
export const projectIdSql = (ref: string): Part =>
  isUuid(ref)
    ? sql.part`${ref}::uuid`
    : sql.part`(select p.id from projects p where ${orgFilter('p')} and p.key = ${ref.toUpperCase()})`;

/** Returns SQL for the id of the story that an id or a key names. */
export function storyIdSql(ref: string): Part {
  if (isUuid(ref)) return sql.part`${ref}::uuid`;
  const dash = ref.indexOf('-');
  return sql.part`(select k.id from stories k where ${orgFilter('k')}
    and k.project_id = ${projectIdSql(ref.slice(0, dash))} and k.number = ${Number(ref.slice(dash + 1))})`;
}

/**
 * Returns SQL for a set of `(ord, id)`: the stories in the order given, counted from 1. The id is null if no
 * story has that key.
 */
export function storyIdsSql(refs: readonly string[]): Part {
  const ids = refs.map((ref) => (isUuid(ref) ? ref : null));
  const keys = refs.map((ref) => (isUuid(ref) ? null : ref.toUpperCase().split('-')));
  const projects = keys.map((key) => key?.[0] ?? null);
  const numbers = keys.map((key) => (key === null ? null : Number(key[1])));
  return sql.part`(select r.ord::int as ord, coalesce(r.id, k.id) as id
    from unnest(${ids}::uuid[], ${projects}::text[], ${numbers}::int[])
      with ordinality r (id, project_key, number, ord)
    left join projects p on ${orgFilter('p')} and p.key = r.project_key
    left join stories k on ${orgFilter('k')} and k.project_id = p.id and k.number = r.number)`;
}

/** Returns SQL for an array of the ids of the stories. An element is null if no story has that key. */
export const storyIdArraySql = (refs: readonly string[]): Part =>
  refs.every(isUuid) ? sql.part`${refs}::uuid[]` : sql.part`array(select n.id from ${storyIdsSql(refs)} n)`;

/** Builds a `like` pattern that finds the text literally, at any position. */
export const containsPattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** The agent ID in execution_contributors of a member who works in person. */
export const noAgentId = '00000000-0000-0000-0000-000000000000';

/** Returns SQL for a story and its open group as targets of work: rows of `type` and `id`. */
export const workTargetsSql = (storyId: Part): Part => sql.part`select 'story' as type, ${storyId} as id
  union all
  select 'delivery_group', d.group_id from delivery_group_stories d
    where ${orgFilter('d')} and d.story_id = ${storyId} and d.open`;
