/** Reads a story with its parent, children, dependencies and asked agent. */
import { currentOrgId, type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { maxRelatedStories, type StoryCard, type StoryLink } from '@muster/contract';
import { stories, type StoryRow } from './stories.ts';

/** A story's row with its relations, so that one statement reads both. */
interface StoryWithRelationsRow extends StoryRow {
  readonly agentResponse: StoryCard['agentResponse'];
  /** The links by relation, without relations that have none. */
  readonly links: Partial<Record<'parent' | 'children' | 'blockedBy' | 'blocks', StoryLink[]>> | null;
  /** The member's choice to follow or mute the story; null without one. */
  readonly subscribed: boolean | null;
}

/**
 * Selects the links of story `s`, oldest first. All relations share one scan, because a statement pays for each table
 * that it names.
 */
const selectLinks = sql.part`(
  select jsonb_object_agg(k.relation, k.links) from (
    select l.relation, jsonb_agg(jsonb_build_object('id', l.id, 'key', l.key, 'title', l.title, 'status', l.status) order by l.number) as links
    from (select r.relation, o.id, p.key || '-' || o.number as key, o.title, o.status, o.number,
        row_number() over (partition by r.relation order by o.number) as nth
      from (select 'parent' as relation, s.parent_id as id
        union all select 'children', c.id from stories c where ${orgFilter('c')} and c.parent_id = s.id
        union all select 'blockedBy', unnest(s.blocked_by)
        union all select 'blocks', b.story_id from story_blockers b where ${orgFilter('b')} and b.blocker_id = s.id) r
      join stories o on ${orgFilter('o')} and o.id = r.id
      join projects p on ${orgFilter('p')} and p.id = o.project_id) l
    where l.nth <= ${sql.literal(maxRelatedStories)} group by l.relation) k)`;

/** True if an agent may have been asked to work on story `s`. */
const mayAskAgent = sql.part`(
  exists (select from assignments a where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = s.id and a.agent_id is not null)
  or exists (select from comments c where ${orgFilter('c')} and c.story_id = s.id and c.agent_mentions <> '{}'))`;

export const getStoryWithRelations = (
  db: Db,
  id: IdOrSql,
  memberId: string,
): Promise<StoryWithRelationsRow> =>
  db.get(
    sql<StoryWithRelationsRow>`select ${stories.list}, p.key as project_key, ${selectLinks} as links,
        case when ${mayAskAgent} then (
          select r.response from app.agent_responses(${currentOrgId}, array[s.id]) r) end as "agentResponse",
        (select w.subscribed from story_subscriptions w
          where ${orgFilter('w')} and w.story_id = s.id and w.member_id = ${memberId}::uuid) as subscribed
      from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
      where ${orgFilter('s')} and s.id = ${id}`,
  );
