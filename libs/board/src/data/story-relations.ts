/** Reads the parent, the children, the dependencies and the asked agent of a story. */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { maxRelatedStories, type StoryCard, type StoryLink } from '@muster/contract';
import { agentResponseSql, joinAssignment } from './story-cards.ts';

interface StoryRelations {
  readonly agentResponse: StoryCard['agentResponse'];
  readonly parent: StoryLink | null;
  readonly children: StoryLink[];
  readonly blockedBy: StoryLink[];
  readonly blocks: StoryLink[];
  /** The member's choice to follow or mute the story; null without one. */
  readonly subscribed: boolean | null;
}

/** Returns SQL for the links to the stories `o` that match the condition, oldest first. */
const selectLinks = (condition: Part): Part => sql.part`(
  select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'key', l.key, 'title', l.title, 'status', l.status) order by l.number), '[]')
  from (select o.id, p.key || '-' || o.number as key, o.title, o.status, o.number
    from stories o join projects p on ${orgFilter('p')} and p.id = o.project_id
    where ${orgFilter('o')} and ${condition} order by o.number limit ${sql.literal(maxRelatedStories)}) l)`;

/** Returns SQL for IDs of stories that depend on story `q` or that it depends on. */
const selectDependencies = (selected: 'story_id' | 'blocker_id', given: 'story_id' | 'blocker_id'): Part =>
  sql.part`(select b.${sql.word(selected)} from story_blockers b where ${orgFilter('b')} and b.${sql.word(given)} = q.id)`;

export const findStoryRelations = (db: Db, storyId: IdOrSql, memberId: string): Promise<StoryRelations> =>
  db.get(
    sql<StoryRelations>`select ${agentResponseSql} as "agentResponse",
        ${selectLinks(sql.part`o.id = q.parent_id`)} -> 0 as parent,
        ${selectLinks(sql.part`o.parent_id = q.id`)} as children,
        ${selectLinks(sql.part`o.id in ${selectDependencies('blocker_id', 'story_id')}`)} as "blockedBy",
        ${selectLinks(sql.part`o.id in ${selectDependencies('story_id', 'blocker_id')}`)} as blocks,
        (select w.subscribed from story_subscriptions w
          where ${orgFilter('w')} and w.story_id = q.id and w.member_id = ${memberId}::uuid) as subscribed
      from stories q ${joinAssignment} where ${orgFilter('q')} and q.id = ${storyId}`,
  );
