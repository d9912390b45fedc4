/** The records that two parameters name together: what kind of thing, and which one. */
import { type Db, type Id, of, sql } from '@muster/driver';
import { type Subject, type TargetType } from '@muster/registry';
import { aboutEpic, epics } from './epics.ts';
import { aboutStory, lockStory } from './stories.ts';

export interface Target {
  readonly targetType: TargetType;
  readonly targetId: Id;
}

/** Locks the target against other writers until this transaction ends, and answers what there is to say of it. */
export async function lockTarget(db: Db, target: Target): Promise<Subject> {
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

/** Groups are delivery's; the board only assigns members and agents to them. */
const lockDeliveryGroup = async (db: Db, groupId: Id): Promise<Subject> =>
  aboutGroup(await db.get(sql<Group>`${groups} where ${of('g')} and g.id = ${groupId} for no key update`));

/** The open group that a story is in, whose work and coordination hear what becomes of it. */
export async function findGroupOf(db: Db, storyId: string): Promise<Subject | undefined> {
  const group = await db.find(
    sql<Group>`${groups} where ${of('g')} and g.id =
      (select d.group_id from delivery_group_stories d where ${of('d')} and d.story_id = ${storyId} and d.open)`,
  );
  return group && aboutGroup(group);
}
