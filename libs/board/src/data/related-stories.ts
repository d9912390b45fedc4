/** Reads the stories that are related to a story: its parent, its children, and dependencies in both directions. */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { maxRelatedStories, type StoryLink } from '@muster/registry';

export interface RelatedStories {
  readonly parent: StoryLink | null;
  readonly children: StoryLink[];
  readonly blockedBy: StoryLink[];
  readonly blocks: StoryLink[];
}

/** Returns SQL for the links to the stories `o` that match the condition, oldest first. */
const selectLinks = (condition: Part): Part => sql.part`(
  select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'key', l.key, 'title', l.title, 'status', l.status) order by l.number), '[]')
  from (select o.id, p.key || '-' || o.number as key, o.title, o.status, o.number
    from stories o join projects p on ${orgFilter('p')} and p.id = o.project_id
    where ${orgFilter('o')} and ${condition} order by o.number limit ${sql.literal(maxRelatedStories)}) l)`;

/** Returns SQL for IDs of stories that depend on story `s` or that it depends on. */
const selectDependencies = (selected: 'story_id' | 'blocker_id', given: 'story_id' | 'blocker_id'): Part =>
  sql.part`(select b.${sql.word(selected)} from story_blockers b where ${orgFilter('b')} and b.${sql.word(given)} = s.id)`;

export const findRelatedStories = (db: Db, storyId: IdOrSql): Promise<RelatedStories> =>
  db.get(
    sql<RelatedStories>`select ${selectLinks(sql.part`o.id = s.parent_id`)} -> 0 as parent,
        ${selectLinks(sql.part`o.parent_id = s.id`)} as children,
        ${selectLinks(sql.part`o.id in ${selectDependencies('blocker_id', 'story_id')}`)} as "blockedBy",
        ${selectLinks(sql.part`o.id in ${selectDependencies('story_id', 'blocker_id')}`)} as blocks
      from stories s where ${orgFilter('s')} and s.id = ${storyId}`,
  );
