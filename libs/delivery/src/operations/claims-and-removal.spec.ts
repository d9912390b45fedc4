import { beforeEach, describe, expect, it } from '@jest/globals';
import { organizationsHandlers } from '@muster/organizations';
import { type PeopleOf, type PersonOf, refusalOf, useWorld } from '@muster/testing';
import { acquire, acquireStory } from '../../test/locks.ts';
import { arrangeStories } from '../../test/stories.ts';
import { type ExecutionRow } from '../data/executions.ts';
import { deliveryHandlers, executionReactions } from '../index.ts';
import { type TransitionName } from '../leases/states.ts';
import { applyTransition } from '../leases/step.ts';

const agents = { ...organizationsHandlers.agents, ...deliveryHandlers.agents };
const world = useWorld({ ...deliveryHandlers, ...organizationsHandlers, agents }, [executionReactions]);

let people: PeopleOf<typeof world>;
let projectId: string;
let stories: readonly string[];
beforeEach(async () => {
  ({ people, projectId, stories } = await arrangeStories(world));
});

const story = { targetType: 'story', targetId: 'WEB-1' } as const;
const readHoldings = async (): Promise<unknown[]> => [
  ...(await world.rows(`select unit_type from leases where org_id = $1 and state = 'held'`, people.orgId)),
  ...(await world.rows('select id from locks where org_id = $1', people.orgId)),
  ...(await world.rows(`select id from executions where org_id = $1 and state = 'offered'`, people.orgId)),
  ...(await world.rows('select run_id from agent_runs where org_id = $1 and ended_at is null', people.orgId)),
];
const begin = (who: PersonOf<typeof world>, runId = 'run-1') =>
  who.agents.runEvent({ projectId: 'WEB', runId, kind: 'started' }).catch(refusedAsGone);
/** Expects the error for a caller who was removed during the call. */
const refusedAsGone = (error: unknown) => {
  expect(error).toMatchObject({ status: 401 });
};

const removeChloe = (): Promise<unknown> =>
  people.ana.members.removeMember({ memberId: people.chloe.me.memberId });
const retireRobo = (): Promise<unknown> =>
  people.ana.agents.retire({ agentId: people.robo.me.agentId ?? '' });

/** Blocks a claim on a row lock after its authorization check. Then removes Chloé, or retires her agent. */
async function meet(
  row: { table: string; where: string; id: string },
  claim: () => Promise<unknown>,
  remove = removeChloe,
) {
  const { orgId } = people;
  const holder = await world.database.owner.connect();
  let isOver = false;
  try {
    await holder.query('begin');
    await holder.query(`select 1 from ${row.table} where org_id = $1 and ${row.where} for update`, [
      orgId,
      row.id,
    ]);
    const claiming = claim();
    await world.waitUntilBlocked(1);
    const removing = remove();
    await Promise.race([world.waitUntilBlocked(2), removing]);
    await holder.query('rollback');
    isOver = true;
    await Promise.allSettled([claiming, removing]);
    await removing;
  } finally {
    holder.release(!isOver);
  }
}

describe('a member who is removed while claiming work', () => {
  it('holds no lease on a story', async () => {
    await meet({ table: 'stories', where: 'id = $2', id: stories[0] ?? '' }, () =>
      people.chloe.deliveryExecutions.acquire(story),
    );
    expect(await readHoldings()).toEqual([]);
  });

  it('holds no lease on a group', async () => {
    const { group } = await people.ana.deliveryGroups.create({
      projectId: 'WEB',
      name: 'Passkeys',
      storyIds: ['WEB-1'],
    });
    await meet({ table: 'delivery_groups', where: 'id = $2', id: group.id }, () =>
      people.chloe.deliveryGroups.acquireLease({ groupId: group.id }),
    );
    expect(await readHoldings()).toEqual([]);
  });

  it('holds no lock', async () => {
    await acquire(people.ana, ['docs/**']);
    await meet({ table: 'lock_counters', where: 'project_id = $2', id: projectId }, () =>
      acquire(people.chloe, ['src/**']),
    );
    expect(await readHoldings()).toHaveLength(1);
  });

  it('is offered nothing', async () => {
    const held = await acquireStory(people.ben, 'WEB-1', ['a.ts']);
    await meet({ table: 'executions', where: 'id = $2', id: held.executionId }, () =>
      people.ben.deliveryExecutions.handoff({ ...held, toMemberId: people.chloe.me.memberId }),
    );
    expect(await readHoldings()).toEqual([]);
  });

  it('begins no run', async () => {
    await meet({ table: 'projects', where: 'id = $2', id: projectId }, () => begin(people.chloe));
    expect(await readHoldings()).toEqual([]);
  });

  it('begins no run by an agent', async () => {
    await meet({ table: 'projects', where: 'id = $2', id: projectId }, () => begin(people.robo));
    expect(await readHoldings()).toEqual([]);
  });

  it('claims nothing once the removal is under way', async () => {
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'members', id: people.chloe.me.memberId },
      removeChloe,
      () => people.chloe.deliveryExecutions.acquire(story),
      () => acquire(people.chloe, ['src/**']),
      () => begin(people.chloe),
    );
    expect(outcomes[0]?.status).toBe('fulfilled');
    expect(await readHoldings()).toEqual([]);
  });

  it.each(['agent', 'removal'])(
    'has no agent left that is made at the same moment, the %s first',
    async (first) => {
      const { chloe, orgId } = people;
      const calls = [() => chloe.agents.create({ name: 'Late' }).catch(refusedAsGone), removeChloe];
      if (first === 'removal') calls.reverse();
      await world.runUnderContention<unknown>({ table: 'members', id: chloe.me.memberId }, ...calls);
      expect(
        await world.rows('select name from agents where org_id = $1 and retired_at is null', orgId),
      ).toEqual([]);
    },
  );
});

describe('an agent that is retired while it begins a run', () => {
  it('begins none', async () => {
    await meet({ table: 'projects', where: 'id = $2', id: projectId }, () => begin(people.robo), retireRobo);
    expect(await readHoldings()).toEqual([]);
  });

  it('begins none by the word of its member either', async () => {
    const { chloe, robo } = people;
    const agentId = robo.me.agentId ?? '';
    let refusal: unknown;
    await meet(
      { table: 'projects', where: 'id = $2', id: projectId },
      async () => {
        const started = { projectId: 'WEB', runId: 'run-1', kind: 'started', agentId } as const;
        refusal = await refusalOf(chloe.agents.runEvent(started));
      },
      retireRobo,
    );
    expect(refusal).toMatchObject({ status: 404 });
    expect(await readHoldings()).toEqual([]);
  });

  it('ends the run that came before its retirement', async () => {
    const { orgId, robo } = people;
    await begin(robo);
    await world.runUnderContention<unknown>(
      { table: 'agents', id: robo.me.agentId ?? '' },
      () => begin(robo, 'run-2'),
      retireRobo,
    );
    expect(await readHoldings()).toEqual([]);
    expect(
      await world.rows(`select state from agent_runs where org_id = $1 and run_id = 'run-1'`, orgId),
    ).toEqual([{ state: 'canceled' }]);
  });
});

describe('the work of a member who is removed', () => {
  const remove = () => people.ana.members.removeMember({ memberId: people.chloe.me.memberId });
  const rowOf = async (executionId: string) => {
    const [row] = await world.rows<ExecutionRow>(
      'select * from executions where org_id = $1 and id = $2',
      people.orgId,
      executionId,
    );
    if (row === undefined) throw new Error('the execution is gone');
    return row;
  };
  /** Expects that the trigger wrote the same as the table of transitions defines. */
  async function expectStep(
    executionId: string,
    before: ExecutionRow,
    transition: TransitionName,
  ): Promise<void> {
    const after = await rowOf(executionId);
    const data = { reason: 'member removed' };
    const { row, events } = applyTransition(before, transition, { now: after.updated_at, data });
    expect(after).toEqual(row);
    const { items } = await people.ana.deliveryExecutions.eventsSince({
      executionId,
      afterSeq: before.last_event_seq,
    });
    expect(items.map(({ kind, data: said }) => ({ kind, data: said }))).toEqual(events);
  }

  it('is given up as by a release', async () => {
    const { executionId } = await acquireStory(people.chloe, 'WEB-1');
    const before = await rowOf(executionId);
    await remove();
    await expectStep(executionId, before, 'release');
    expect(await readHoldings()).toEqual([]);
  });

  it('is there for others where it was offered to them, and so is what was locked for it', async () => {
    const { ana, ben, chloe } = people;
    const held = await acquireStory(ben, 'WEB-1', ['a.ts']);
    await acquire(ben, ['src/**'], { executionId: held.executionId });
    await ben.deliveryExecutions.handoff({ ...held, toMemberId: chloe.me.memberId });
    const before = await rowOf(held.executionId);
    await remove();
    await expectStep(held.executionId, before, 'withdrawOffer');
    expect(await readHoldings()).toEqual([]);
    expect((await ana.deliveryExecutions.acquire(story)).execution.state).toBe('leased');
  });
});
