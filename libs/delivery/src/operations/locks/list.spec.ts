import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Lock } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld, refusalOf } from '@muster/testing';
import { acquire, listLocks } from '../../../test/locks.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
beforeEach(async () => {
  ({ people } = await arrangeStories(world));
});

describe('locks.list', () => {
  it('finds what a resource has a path in common with, page by page', async () => {
    const kept: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      kept.push((await acquire(people.chloe, [`src/${n}/**`])).lock.id);
      await acquire(people.chloe, [`docs/${n}.md`, `name:${n}`]);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: Lock[]; nextCursor: string | null } = await people.dan.locks.list({
        projectId: 'WEB',
        resource: 'src/**/*.ts',
        limit: 2,
        ...(cursor !== null && { cursor }),
      });
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(kept);
    expect(await listLocks(people.dan, { resource: 'name:3' })).toMatchObject([
      { resources: ['docs/3.md', 'name:3'] },
    ]);
    expect(await listLocks(people.dan, { resource: 'lib/**' })).toEqual([]);
  });

  it('shows one’s own of whatever run, and an agent’s to the agent', async () => {
    const { lock: one } = await acquire(people.chloe, ['a'], { runId: 'r1' });
    const { lock: two } = await acquire(people.chloe, ['b']);
    const { lock: agents } = await acquire(people.robo, ['c']);
    const mine = async (who: PersonOf<typeof world>) =>
      (await listLocks(who, { mine: true })).map(({ id }) => id);
    expect([await mine(people.chloe), await mine(people.robo), await mine(people.ben)]).toEqual([
      [one.id, two.id],
      [agents.id],
      [],
    ]);
  });

  it('refuses a resource that is none, or that cannot be compared', async () => {
    const body = await refusalOf(people.dan.locks.list({ projectId: 'WEB', resource: '../x' }));
    expect([body.status, body.details?.issues?.map(({ path }) => path)]).toEqual([400, ['resource']]);
    await acquire(people.chloe, [`${'*a'.repeat(200)}*`]);
    const slow = await refusalOf(
      people.dan.locks.list({ projectId: 'WEB', resource: `${'*b'.repeat(200)}*` }),
    );
    expect([slow.status, slow.details?.issues?.map(({ path }) => path)]).toEqual([400, ['resource']]);
  });
});
