/** The records that two parameters name together: what kind of thing, and which one. */
import { type Db, type Id, of, sql } from '@muster/database';
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

/** Groups are delivery's; the board only assigns members and agents to them. */
async function lockDeliveryGroup(db: Db, groupId: Id): Promise<Subject> {
  const group = await db.get(
    sql<{
      id: string;
      title: string;
      projectId: string;
    }>`select g.id, g.name as title, g.project_id as "projectId" from delivery_groups g
       where ${of('g')} and g.id = ${groupId} for no key update`,
  );
  return { type: 'delivery_group', key: null, ...group };
}
