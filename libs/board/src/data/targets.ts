/** The records that two parameters identify together: a kind and an ID. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type Subject, type TargetType } from '@muster/contract';
import { toEpicEventSubject, epics } from './epics.ts';
import { toStoryEventSubject, lockStory } from './stories.ts';

export interface CommentTarget {
  readonly targetType: TargetType;
  readonly targetId: IdOrSql;
}

/** Locks the target against other writers until this transaction ends, and returns it as an event subject. */
export async function lockTarget(db: Db, target: CommentTarget): Promise<Subject> {
  switch (target.targetType) {
    case 'story':
      return toStoryEventSubject(await lockStory(db, target.targetId));
    case 'epic':
      return toEpicEventSubject(await epics.lock(db, target.targetId));
    case 'delivery_group':
      return lockDeliveryGroup(db, target.targetId);
  }
}

type GroupEventFields = Pick<Subject, 'id' | 'title' | 'projectId'>;
const selectGroup = sql.part`select g.id, g.name as title, g.project_id as "projectId" from delivery_groups g`;
const toGroupEventSubject = (group: GroupEventFields): Subject => ({
  type: 'delivery_group',
  key: null,
  ...group,
});

/** Locks a group. Groups belong to delivery; the board only assigns members and agents to them. */
const lockDeliveryGroup = async (db: Db, groupId: IdOrSql): Promise<Subject> =>
  toGroupEventSubject(
    await db.get(
      sql<GroupEventFields>`${selectGroup} where ${orgFilter('g')} and g.id = ${groupId} for no key update`,
    ),
  );

/** Finds the open group of a story. Its work and its coordinator receive events about the story. */
export async function findOpenGroupOfStory(db: Db, storyId: string): Promise<Subject | undefined> {
  const group = await db.find(
    sql<GroupEventFields>`${selectGroup} where ${orgFilter('g')} and g.id =
      (select d.group_id from delivery_group_stories d where ${orgFilter('d')} and d.story_id = ${storyId} and d.open)`,
  );
  return group && toGroupEventSubject(group);
}
