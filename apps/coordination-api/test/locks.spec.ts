/** Locks in the complete API: notifications about them, and where they appear. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type StoryContext } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People<AllHandlers>;

beforeEach(async () => {
  people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  for (const title of ['Passkeys', 'Search']) {
    await people.ana.stories.create({ projectId: 'WEB', title, status: 'ready' });
  }
});

const inboxOf = async (who: Person<AllHandlers>) =>
  (await who.notifications.list()).items.map(({ kind, title }) => [kind, title]);

async function acquire(who: Person<AllHandlers>, resources: string[], more: object = {}) {
  const { lock } = await who.locks.acquire({ projectId: 'WEB', resources, ...more });
  if (lock === null) throw new Error('only a dryRun answers no lock');
  return lock;
}

async function workOn(who: Person<AllHandlers>, story: string, filesTouched: string[]) {
  const target = { targetType: 'story', targetId: story } as const;
  const { execution, leaseToken } = await who.deliveryExecutions.acquire(target);
  const held = { executionId: execution.id, leaseToken };
  await who.deliveryExecutions.checkpoint({ ...held, summary: 'Half', filesTouched });
  return held;
}

describe('over HTTP', () => {
  it('a clash is 409 with all that is in the way, by either path', async () => {
    const lock = await acquire(people.chloe, ['src/auth/**']);
    const params = { projectId: 'web', resources: ['**/login.ts'] };
    const { token } = people.ben.me;
    for (const answer of [
      await api.call(token, 'locks.acquire', params),
      await api.request('/api/query', { token, body: { operation: 'locks.acquire', params } }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
      expect(answer.body.details).toEqual({
        reason: 'lock_held',
        retryable: true,
        conflicts: [
          { resource: '**/login.ts', heldResource: 'src/auth/**', witness: 'src/auth/login.ts', lock },
        ],
      });
    }
  });

  it.each([['a\\b'], ['C:/a'], ['a\u200b'], ['/a'], ['../a'], ['{a/b,c}'], ['[a'], ['name:'], ['']])(
    '%j is 400 and names its place',
    async (resource) => {
      const params = { projectId: 'WEB', resources: ['src/**', 'docs/**', resource] };
      const { status, body } = await api.call(people.ana.me.token, 'locks.acquire', params);
      expect([status, body.code, body.details?.issues?.map(({ path }) => path)]).toEqual([
        400,
        'bad_request',
        ['resources[2]'],
      ]);
    },
  );
});

describe('what a lock is tied to', () => {
  it('is of the project that is locked in', async () => {
    await people.ana.projects.create({ key: 'DOCS', name: 'Docs' });
    await people.ana.stories.create({ projectId: 'DOCS', title: 'Guide', status: 'ready' });
    const { executionId } = await workOn(people.chloe, 'DOCS-1', []);
    for (const tie of [{ storyId: 'DOCS-1' }, { executionId }]) {
      await expect(acquire(people.chloe, ['a'], tie)).rejects.toMatchObject({
        status: 422,
        reason: 'mismatched_project',
      });
    }
  });
});

describe('a lock that another frees', () => {
  it('tells its holder, and stands in activity and audit', async () => {
    const lock = await acquire(people.chloe, ['src/auth/**', 'docs/**']);
    await people.ben.locks.release({ lockId: lock.id });
    expect(await inboxOf(people.chloe)).toEqual([
      ['lock_taken_over', 'Ben released your lock on src/auth/** and 1 more'],
    ]);
    expect(await inboxOf(people.ben)).toEqual([]);
    const { items } = await people.dan.activity.list({ projectId: 'WEB', kinds: ['lock.released'] });
    expect(items).toMatchObject([
      { actor: { name: 'Ben' }, subject: { type: 'lock', id: lock.id }, data: { resources: lock.resources } },
    ]);
    const { items: audit } = await people.ana.audit.list({ operation: 'locks.release' });
    expect(audit).toMatchObject([{ actor: { name: 'Ben' }, target: lock.id, outcome: 'allowed' }]);
  });

  it('tells the member whose agent had it, and nobody where the holder lets go', async () => {
    const lock = await acquire(people.robo, ['src/**']);
    await people.ana.locks.release({ lockId: lock.id });
    expect(await inboxOf(people.chloe)).toHaveLength(1);
    const own = await acquire(people.chloe, ['src/**']);
    await people.chloe.locks.release({ lockId: own.id });
    expect(await inboxOf(people.chloe)).toHaveLength(1);
  });
});

describe('a lock ends', () => {
  const live = async () => (await people.dan.locks.list({ projectId: 'WEB' })).items;

  it('with the story that is canceled, where it went with the work on it', async () => {
    const { executionId } = await workOn(people.chloe, 'WEB-1', ['a.ts']);
    await acquire(people.chloe, ['src/**'], { executionId });
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    expect(await live()).toEqual([]);
  });

  it('with the membership of its holder', async () => {
    await acquire(people.robo, ['src/**']);
    await people.ana.members.removeMember({ memberId: people.chloe.me.memberId });
    expect(await live()).toEqual([]);
  });

  it('not with a story that it was only about', async () => {
    const lock = await acquire(people.chloe, ['src/**'], { storyId: 'WEB-2' });
    await people.ana.stories.delete({ storyId: 'WEB-2' });
    expect(await live()).toEqual([{ ...lock, storyId: null }]);
  });
});

describe('the context of a story', () => {
  const include: (keyof StoryContext & ('locks' | 'collisions'))[] = ['locks', 'collisions'];
  const contextOf = (storyId: string) => people.dan.storyCollaboration.context({ storyId, include });

  it('shows what is locked in the project, what was locked for the story first', async () => {
    const first = await acquire(people.ben, ['docs/**']);
    const forIt = await acquire(people.chloe, ['src/**'], { storyId: 'WEB-1' });
    expect((await contextOf('WEB-1')).locks).toEqual([forIt, first]);
    expect((await contextOf('WEB-2')).locks).toEqual([first, forIt]);
  });

  it('shows what others touch or hold that its own work touches too', async () => {
    const files = ['src/a.ts', 'src/b.ts', 'app/[id].ts'];
    await workOn(people.chloe, 'WEB-1', files);
    expect((await contextOf('WEB-1')).collisions).toEqual([]);

    const other = await workOn(people.robo, 'WEB-2', ['src/b.ts', 'lib/x.ts']);
    const lock = await acquire(people.ben, ['app/**', 'docs/**'], { storyId: 'WEB-2' });
    const { items: stories } = await people.dan.stories.list({ projectId: 'WEB', sort: 'created' });
    const two = stories.find(({ key }) => key === 'WEB-2')?.id;
    const { collisions, truncated } = await contextOf('WEB-1');
    expect(truncated).toEqual([]);
    expect(collisions).toMatchObject([
      {
        path: 'src/b.ts',
        kind: 'execution',
        id: other.executionId,
        storyId: two,
        holder: { name: 'Robo' },
      },
      { path: 'app/[id].ts', kind: 'lock', id: lock.id, storyId: two, holder: { name: 'Ben' } },
    ]);
    // The context of WEB-2 shows the collisions from the other side. Paths under a lock for WEB-2 count as
    // well as the files of its work.
    expect((await contextOf('WEB-2')).collisions?.map(({ path, kind }) => [path, kind])).toEqual([
      ['src/b.ts', 'execution'],
      ['app/[id].ts', 'execution'],
    ]);

    await people.robo.deliveryExecutions.release(other);
    expect((await contextOf('WEB-1')).collisions?.map(({ kind }) => kind)).toEqual(['lock']);
  });

  it('says that there is more where not all could be read', async () => {
    await api.world.rows(
      `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, fencing_token, expires_at)
       select p.org_id, uuidv7(), p.id, array['x/' || n], 'exclusive',
         '{"kind": "system", "memberId": null, "agentId": null, "name": "system"}', uuidv7(), 0, now() + interval '1 hour'
       from projects p, generate_series(1, 201) n where p.org_id = $1`,
      people.orgId,
    );
    const { locks, truncated } = await contextOf('WEB-1');
    expect([locks?.length, truncated]).toEqual([200, ['locks', 'collisions']]);
  });
});

describe('what only handlers may ask', () => {
  it('is on no surface', async () => {
    const { token } = people.ana.me;
    const params = { storyId: 'WEB-1' };
    const byPath = await api.call(token, 'inside.workAround', params);
    const asked = await api.request('/api/query', {
      token,
      body: { operation: 'inside.workAround', params },
    });
    expect([byPath.status, asked.status, asked.body.code]).toEqual([404, 404, 'unknown_operation']);
    const description = await api.request('/openapi.json', { method: 'GET' });
    expect(description.text).not.toContain('workAround');
  });
});

describe('whoever works in a project that is deleted', () => {
  it.each(['org', 'private'] as const)(
    'is told so, and hears from then on that the work is gone (%s)',
    async (visibility) => {
      const { ana, ben, chloe } = people;
      await ana.projects.members.add({
        projectId: 'WEB',
        memberId: chloe.me.memberId,
        role: 'contributor',
      });
      await ana.projects.update({ projectId: 'WEB', visibility });
      const held = await workOn(chloe, 'WEB-1', ['src/a.ts']);
      await acquire(chloe, ['src/**'], { executionId: held.executionId });
      await ben.projects.delete({ projectId: 'WEB', confirmKey: 'WEB' });
      expect(await inboxOf(chloe)).toContainEqual([
        'lease_taken_over',
        'Ben deleted the project of WEB-1, which you were working on',
      ]);
      await expect(chloe.deliveryExecutions.renew(held)).rejects.toMatchObject({ status: 404 });
    },
  );
});
