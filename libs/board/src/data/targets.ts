/** The records that two parameters identify together: a kind and an ID. */
import { type Db, type Id, of, sql } from '@muster/driver';
import { type Subject, type TargetType } from '@muster/registry';
import { aboutEpic, epics } from './epics.ts';
import { aboutStory, lockStory } from './stories.ts';

export interface CommentTarget {
  readonly targetType: TargetType;
  readonly targetId: Id;
}

/** Locks the target against other writers until this transaction ends, and returns it as an event subject. */
export async function lockTarget(db: Db, target: CommentTarget): Promise<Subject> {
  switch (target.targetType) {
    case 'story':
      return aboutStory(await lockStory(db, target.targetId));
    case 'epic':
      return aboutEpic(await epics.lock(db, target.targetId));
    case 'delivery_group':
      return lockDeliveryGroup(db, target.targetId);
  }
}

type Group = Pick<Subject, 'id' | 'title' | 'projectId'>;
const groups = sql.part`select g.id, g.name as title, g.project_id as "projectId" from delivery_groups g`;
const aboutGroup = (group: Group): Subject => ({ type: 'delivery_group', key: null, ...group });

/** Locks a group. Groups belong to delivery; the board only assigns members and agents to them. */
const lockDeliveryGroup = async (db: Db, groupId: Id): Promise<Subject> =>
  aboutGroup(await db.get(sql<Group>`${groups} where ${of('g')} and g.id = ${groupId} for no key update`));

/** Finds the open group of a story. Its work and its coordinator receive events about the story. */
export async function findGroupOf(db: Db, storyId: string): Promise<Subject | undefined> {
  const group = await db.find(
    sql<Group>`${groups} where ${of('g')} and g.id =
      (select d.group_id from delivery_group_stories d where ${of('d')} and d.story_id = ${storyId} and d.open)`,
  );
  return group && aboutGroup(group);
}
