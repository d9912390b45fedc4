/** Members who are notified of an expired lease. */
import { describe, expect, it } from '@jest/globals';
import { deliveryHandlers } from '@muster/delivery';
import { notificationReaction, notificationsHandlers } from '@muster/notifications';
import { type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type WorkerBoard } from './board.ts';
import { endsIn } from './ends.ts';

const world = useWorld({ ...deliveryHandlers, ...notificationsHandlers }, [notificationReaction]);
const { acquire, timePasses, sweepOnce, told, assign } = endsIn(world);

describe('an expiry is told', () => {
  const tell = async (board: WorkerBoard, holder: PersonOf<typeof world>): Promise<string[]> => {
    await acquire(holder);
    await timePasses(board.people.orgId);
    await sweepOnce();
    await sweepOnce();
    return (await told(board.people.orgId))
      .filter(({ kind }) => kind === 'lease_expired')
      .map(({ name, title }) => `${name}: ${title}`);
  };

  it('to the holder, and to nobody else where nobody is assigned', async () => {
    const board = await arrangeBoard(world);
    expect(await tell(board, board.people.chloe)).toEqual([
      'Chloé: Your lease on WEB-1 has expired; others can take over the work',
    ]);
  });

  it('to the member whose agent held it, and to the one who is assigned', async () => {
    const board = await arrangeBoard(world);
    await assign(board, board.people.ben);
    expect(await tell(board, board.people.robo)).toEqual([
      'Ben: Robo’s lease on WEB-1 has expired; others can take over the work',
      'Chloé: Robo’s lease on WEB-1 has expired; others can take over the work',
    ]);
  });

  it('to the member whose agent is assigned', async () => {
    const board = await arrangeBoard(world);
    await assign(board, board.people.robo);
    expect(await tell(board, board.people.ben)).toEqual([
      'Ben: Your lease on WEB-1 has expired; others can take over the work',
      'Chloé: Ben’s lease on WEB-1 has expired; others can take over the work',
    ]);
  });

  it('to the member who is assigned to the group', async () => {
    const board = await arrangeBoard(world);
    const { people } = board;
    const { group } = await people.ana.deliveryGroups.create({
      projectId: board.projectId,
      name: 'Passkeys',
      storyIds: ['WEB-1'],
    });
    await assign(board, people.ben, group.id);
    await people.chloe.deliveryExecutions.acquire({ targetType: 'delivery_group', targetId: group.id });
    await timePasses(people.orgId);
    await sweepOnce();
    expect((await told(people.orgId)).map(({ name, title }) => `${name}: ${title}`)).toEqual([
      'Ben: Chloé’s lease on Passkeys has expired; others can take over the work',
      'Chloé: Your lease on Passkeys has expired; others can take over the work',
    ]);
  });

  it('once to who is both', async () => {
    const board = await arrangeBoard(world);
    await assign(board, board.people.chloe);
    expect(await tell(board, board.people.robo)).toEqual([
      'Chloé: Robo’s lease on WEB-1 has expired; others can take over the work',
    ]);
  });
});
