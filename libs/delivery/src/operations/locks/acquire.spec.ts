import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Lock } from '@muster/contract';
import { type PeopleOf, useWorld, refusalOf } from '@muster/testing';
import { acquire, conflictsOf, listLocks } from '../../../test/locks.ts';
import { covers } from '../../../test/path-oracle.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
let projectId: string;
let stories: readonly string[];
beforeEach(async () => {
  ({ people, projectId, stories } = await arrangeStories(world));
});

const listAllLocks = () =>
  world.rows<{ id: string }>('select * from locks where org_id = $1 order by id', people.orgId);

/** Lists the actors in the audit of an operation, in order. */
const auditOf = async (operation: string) =>
  (
    await world.rows<{ name: string }>(
      `select actor ->> 'name' as name from audit where org_id = $1 and operation = $2 order by seq`,
      people.orgId,
      operation,
    )
  ).map(({ name }) => name);

describe('locks.acquire', () => {
  it('grants a lock, and shows it to all who may see the project', async () => {
    const { lock, extended, conflicts } = await acquire(people.chloe, ['src/auth/**', 'name:db'], {
      reason: 'Passkeys',
      runId: 'r1',
      storyId: 'web-1',
    });
    expect([extended, conflicts]).toEqual([false, []]);
    expect(lock).toMatchObject({
      projectId,
      resources: ['src/auth/**', 'name:db'],
      mode: 'exclusive',
      holder: { kind: 'member', name: 'Chloé' },
      runId: 'r1',
      executionId: null,
      storyId: stories[0],
      reason: 'Passkeys',
      fencingToken: 1,
    });
    expect(Date.parse(lock.expiresAt) - Date.parse(lock.acquiredAt)).toBe(600_000);
    expect(await listLocks(people.dan)).toEqual([lock]);
  });

  it('refuses all where one is held, and says by whom and by what path', async () => {
    const { lock } = await acquire(people.chloe, ['src/auth/**', 'name:db']);
    const conflicts = await conflictsOf(acquire(people.ben, ['docs/**', 'src/*/login.ts', 'name:db']));
    expect(conflicts).toEqual([
      { resource: 'src/*/login.ts', heldResource: 'src/auth/**', witness: 'src/auth/login.ts', lock },
      { resource: 'name:db', heldResource: 'name:db', witness: 'name:db', lock },
    ]);
    expect(await listLocks(people.ben)).toEqual([lock]);
  });

  it('locks everything below a bare path, and takes one path for the same however it is written', async () => {
    const { lock } = await acquire(people.chloe, ['./src//auth/', 'docs/cafe\u0301.md']);
    expect(lock.resources).toEqual(['src/auth', 'docs/caf\u00e9.md']);
    expect(await conflictsOf(acquire(people.ben, ['src/auth/login.ts']))).toMatchObject([
      { heldResource: 'src/auth', witness: 'src/auth/login.ts' },
    ]);
    expect(await conflictsOf(acquire(people.ben, ['src', 'docs/caf\u00e9.md']))).toHaveLength(2);
    expect((await acquire(people.chloe, ['src/auth', 'docs/caf\u00e9.md'])).extended).toBe(true);
    const found = await people.ben.locks.list({ projectId: 'WEB', resource: 'src/auth/x/' });
    expect(found.items).toEqual([expect.objectContaining({ id: lock.id })]);
    await acquire(people.ben, ['src/author.ts']);
  });

  it('lets any number share, and one have it alone', async () => {
    await acquire(people.chloe, ['src/**'], { mode: 'shared' });
    await acquire(people.ben, ['src/a.ts'], { mode: 'shared' });
    expect(await conflictsOf(acquire(people.ana, ['src/a.ts']))).toHaveLength(2);
    expect(await conflictsOf(acquire(people.ben, ['src/a.ts'], { mode: 'exclusive' }))).toMatchObject([
      { heldResource: 'src/**', lock: { mode: 'shared' } },
    ]);
  });

  it('takes a member, its agent and each run for different holders, and none for its own rival', async () => {
    const { chloe, robo } = people;
    await acquire(chloe, ['src/**'], { runId: 'r1' });
    await acquire(chloe, ['src/a.ts'], { runId: 'r1' });
    expect(await conflictsOf(acquire(chloe, ['src/b.ts'], { runId: 'r2' }))).toHaveLength(1);
    expect(await conflictsOf(acquire(chloe, ['src/b.ts']))).toHaveLength(1);
    expect(await conflictsOf(acquire(robo, ['src/b.ts'], { runId: 'r1' }))).toHaveLength(1);
  });

  it('extends what the holder has, in any order of resources, and never makes it shorter', async () => {
    const first = await acquire(people.chloe, ['a.ts', 'b.ts'], { ttlSeconds: 60, reason: 'First' });
    const longer = await acquire(people.chloe, ['b.ts', 'a.ts', 'a.ts'], { ttlSeconds: 900 });
    expect(longer.extended).toBe(true);
    expect(longer.lock).toEqual({ ...first.lock, expiresAt: longer.lock.expiresAt });
    expect(longer.lock.expiresAt > first.lock.expiresAt).toBe(true);
    const shorter = await acquire(people.chloe, ['a.ts', 'b.ts'], { ttlSeconds: 30, reason: 'Second' });
    expect(shorter.lock).toEqual({ ...longer.lock, reason: 'Second' });
    expect((await acquire(people.chloe, ['a.ts'])).extended).toBe(false);
  });

  it('changes the mode of a lock only where that leaves no clash', async () => {
    const { lock } = await acquire(people.chloe, ['a.ts'], { mode: 'shared' });
    const { lock: alone } = await acquire(people.chloe, ['a.ts'], { mode: 'exclusive' });
    expect([alone.id, alone.mode]).toEqual([lock.id, 'exclusive']);
    await conflictsOf(acquire(people.ben, ['a.ts'], { mode: 'shared' }));
    await acquire(people.chloe, ['a.ts'], { mode: 'shared' });
    await acquire(people.ben, ['a.ts'], { mode: 'shared' });
    await conflictsOf(acquire(people.chloe, ['a.ts'], { mode: 'exclusive' }));
  });

  it('gives each grant of a project a higher token, also after the lock before is gone', async () => {
    const first = await acquire(people.chloe, ['a.ts']);
    await people.chloe.locks.release({ lockId: first.lock.id });
    const second = await acquire(people.chloe, ['a.ts']);
    expect([first.lock.fencingToken, second.lock.fencingToken]).toEqual([1, 2]);
    expect(second.lock.id).not.toBe(first.lock.id);
  });

  it('lasts as long as the policy allows at most, and five seconds at least', async () => {
    await world.rows(`update orgs set policy = '{"maxLockTtlSeconds": 120}' where id = $1`, people.orgId);
    const seconds = async (ttlSeconds: number, resource: string): Promise<number> => {
      const { lock } = await acquire(people.chloe, [resource], { ttlSeconds });
      return (Date.parse(lock.expiresAt) - Date.parse(lock.acquiredAt)) / 1000;
    };
    expect([await seconds(600, 'a'), await seconds(1, 'b'), await seconds(60, 'c')]).toEqual([120, 5, 60]);
    expect(await seconds(1_000_000, 'd')).toBe(120);
  });

  it('takes a lock past its time for none, and takes its row out', async () => {
    const { lock: old } = await acquire(people.chloe, ['src/**']);
    await world.rows(`update locks set expires_at = now() - interval '1 s' where org_id = $1`, people.orgId);
    expect(await listLocks(people.dan)).toEqual([]);
    await expect(people.chloe.locks.release({ lockId: old.id })).rejects.toMatchObject({ status: 404 });
    const { lock } = await acquire(people.ben, ['src/a.ts']);
    expect((await listAllLocks()).map(({ id }) => id)).toEqual([lock.id]);
    await conflictsOf(acquire(people.chloe, ['src/**']));
  });

  it('grants anew what the same holder had before its time was over', async () => {
    const { lock: old } = await acquire(people.chloe, ['src/**']);
    await world.rows(`update locks set expires_at = now() - interval '1 s' where org_id = $1`, people.orgId);
    const { lock, extended } = await acquire(people.chloe, ['src/**']);
    expect([extended, lock.id === old.id, lock.fencingToken]).toEqual([false, false, 2]);
  });

  it('only answers a dryRun', async () => {
    await acquire(people.chloe, ['src/**']);
    const before = await listAllLocks();
    const ask = (resources: string[]) =>
      people.ben.locks.acquire({ projectId: 'WEB', resources, dryRun: true });
    const overlapsIn = await ask(['docs/**', 'src/a.ts']);
    expect(overlapsIn).toMatchObject({ lock: null, extended: false, conflicts: [{ witness: 'src/a.ts' }] });
    expect(await ask(['docs/**'])).toEqual({ lock: null, extended: false, conflicts: [], leftOut: null });
    expect(await listAllLocks()).toEqual(before);
    const counters = await world.rows(
      'select fencing_token from lock_counters where org_id = $1',
      people.orgId,
    );
    expect(counters).toEqual([{ fencing_token: 1 }]);
  });

  it('answers a dryRun in a project that nobody ever locked anything in, and leaves no trace of it', async () => {
    await people.ben.locks.acquire({ projectId: 'WEB', resources: ['a'], dryRun: true });
    const counters = await world.rows('select * from lock_counters where org_id = $1', people.orgId);
    const events = await world.rows('select * from activity where org_id = $1', people.orgId);
    expect([counters, events]).toEqual([[], []]);
    expect(await auditOf('locks.acquire')).toEqual([]);
  });

  it('leaves an audit entry where it grants or extends, and none where a dryRun answers that it would', async () => {
    await acquire(people.chloe, ['src/**']);
    await acquire(people.chloe, ['src/**']);
    for (const resources of [['src/a.ts'], ['docs/**']])
      await people.ben.locks.acquire({ projectId: 'WEB', resources, dryRun: true });
    expect(await auditOf('locks.acquire')).toEqual(['Chloé', 'Chloé']);
  });

  it('is refused in an archived project, and locks nothing there', async () => {
    const { lock } = await acquire(people.chloe, ['docs/**']);
    await world.rows('update projects set archived_at = now() where id = $1', projectId);
    for (const more of [{}, { dryRun: true }])
      await expect(acquire(people.ben, ['src/**'], more)).rejects.toMatchObject({
        status: 422,
        reason: 'archived',
      });
    expect((await listAllLocks()).map(({ id }) => id)).toEqual([lock.id]);
    await people.chloe.locks.release({ lockId: lock.id });
  });

  it('names each resource that is none', async () => {
    const body = await refusalOf(acquire(people.chloe, ['src/**', '/etc', '..', 'name:']));
    expect([body.status, body.code, body.details?.reason]).toEqual([400, 'bad_request', 'invalid_params']);
    expect(body.details?.issues?.map(({ path }) => path)).toEqual([
      'resources[1]',
      'resources[2]',
      'resources[3]',
    ]);
  });

  it('answers conflicts of large locks within 64 KiB, and says how many it leaves out', async () => {
    const large = Array.from({ length: 50 }, (_, nth) => `src/${nth}/${'x'.repeat(500)}`);
    await acquire(people.chloe, large);
    const asked = { projectId: 'WEB', resources: large };
    const refused = await refusalOf(people.ben.locks.acquire(asked));
    const trial = await people.ben.locks.acquire({ ...asked, dryRun: true });
    for (const { conflicts, leftOut } of [refused.details ?? {}, trial]) {
      const shown = conflicts as unknown[];
      expect(JSON.stringify(shown).length).toBeLessThanOrEqual(64 * 1024);
      expect(shown).toHaveLength(2);
      expect(leftOut).toEqual({ conflicts: 48 });
    }
  });

  it('names the first conflict whole, however large its lock is', async () => {
    const large = Array.from({ length: 50 }, (_, nth) => `src/${nth}/${'€'.repeat(500)}`);
    const { lock } = await acquire(people.chloe, large);
    const { details } = await refusalOf(acquire(people.ben, large.slice(0, 2)));
    expect(details).toMatchObject({ conflicts: [{ lock }], leftOut: { conflicts: 1 } });
  });

  it('gives up patterns that were made to be slow, whoever sent them first', async () => {
    await acquire(people.chloe, [`${'*a'.repeat(200)}*`]);
    await expect(acquire(people.ben, [`${'*b'.repeat(200)}*`])).rejects.toMatchObject({
      status: 422,
      reason: 'limit_exceeded',
    });
    await acquire(people.ben, ['src/**/*.ts']);
  });

  it('refuses what would be more than can be compared', async () => {
    await world.rows(
      `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, fencing_token, expires_at)
       select $1, uuidv7(), $2, array(select 'x/' || n || '/' || m from generate_series(1, 50) m), 'exclusive', '{}',
         uuidv7(), 0, now() + interval '1 hour' from generate_series(1, 100) n`,
      people.orgId,
      projectId,
    );
    await expect(acquire(people.ben, ['y'])).rejects.toMatchObject({ status: 422, reason: 'limit_exceeded' });
  });
});

/** Reports whether two locks cover the same path, by a matcher that is independent of the product's. */
const clash = (a: Lock, b: Lock, paths: readonly string[]): boolean =>
  (a.mode === 'exclusive' || b.mode === 'exclusive') &&
  JSON.stringify([a.holder, a.runId]) !== JSON.stringify([b.holder, b.runId]) &&
  paths.some((path) => [a, b].every(({ resources }) => resources.some((text) => covers(text, path))));

describe('of many grants at once', () => {
  const patterns = ['src/**', 'src/a/*', '**/*.ts', 'src/a/x.ts', '*/a/**', 'docs/**', 'src/{a,b}/*.ts'];
  const paths = ['src/a/x.ts', 'src/b/x.ts', 'src/a/x.md', 'docs/a/x.md', 'docs/x.ts', 'x.ts', 'lib/a/y.md'];

  it('those that are given never clash', async () => {
    await acquire(people.ana, ['name:first']);
    const callers = [people.ana, people.ben, people.chloe, people.robo];
    const calls = Array.from({ length: 8 }, (_, n) => () => {
      const who = callers[n % callers.length] ?? people.ana;
      return acquire(who, [patterns[n % patterns.length] ?? ''], {
        runId: `r${n}`,
        mode: n % 3 === 0 ? 'shared' : 'exclusive',
      });
    });
    const outcomes = await world.runUnderContention(
      { table: 'lock_counters', id: projectId, column: 'project_id' },
      ...calls,
    );
    expect(new Set(outcomes.map(({ status }) => status)).size).toBe(2);
    const live = await listLocks(people.dan);
    const clashing = live.flatMap((a) => live.filter((b) => a.id !== b.id && clash(a, b, paths)));
    expect(clashing).toEqual([]);
    const tokens = live.map(({ fencingToken }) => fencingToken);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('exactly one gets what all want', async () => {
    await acquire(people.ana, ['name:first']);
    const outcomes = await world.runUnderContention(
      { table: 'lock_counters', id: projectId, column: 'project_id' },
      ...[people.ana, people.ben, people.chloe, people.robo].map(
        (who) => () => acquire(who, ['src/**'], { runId: 'race' }),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
  });
});
