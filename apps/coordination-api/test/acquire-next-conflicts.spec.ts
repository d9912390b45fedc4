/** acquireNext leaves out stories that touch what others work on, and projects.conflicts lists such stories. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import {
  acquire,
  createReadyStory,
  createWebProject,
  heldOf,
  acquireNext,
  type NextWork,
} from './next-work.ts';

const api = useApi();

let people: People<AllHandlers>;
beforeEach(async () => {
  people = await createWebProject(api);
});

/** Creates ready stories WEB-1, WEB-2 and so on, with what they touch. Returns their ids. */
async function createReadyStories(...touching: string[][]): Promise<string[]> {
  const ids: string[] = [];
  for (const touches of touching) ids.push(await createReadyStory(people, { touches }));
  return ids;
}

const conflictsIn = ({ skipped }: NextWork) =>
  skipped
    .filter(({ reasons }) => reasons.includes('conflict'))
    .map(({ key, witness, with: other }) => [key, witness, other?.source, other?.key]);

const startStory = async (who: Person<AllHandlers>, storyId: string, filesTouched: string[]) => {
  const held = heldOf(await acquire(who, storyId));
  await who.deliveryExecutions.checkpoint({ ...held, summary: 'Half', filesTouched });
  return held;
};

describe('the next story of an agent', () => {
  it('touches nothing that a story of others in progress touches', async () => {
    const [first = '', , third] = await createReadyStories(
      ['src/auth'],
      ['src/**/*.ts', 'docs/a.md'],
      ['docs/**'],
    );
    await acquire(people.ben, first);
    const answer = await acquireNext(people.robo);
    expect(answer.execution?.targetId).toBe(third);
    expect(answer.skipped).toMatchObject([
      {
        ...{ key: 'WEB-2', reasons: ['conflict'], witness: expect.stringMatching(/^src\/auth\/.*\.ts$/) },
        with: { source: 'touches', storyId: first, key: 'WEB-1', lockId: null, holder: { name: 'Ben' } },
      },
    ]);
  });

  it('touches nothing under a lock of others, whatever its mode', async () => {
    const [, second] = await createReadyStories(['name:db', 'src'], ['docs']);
    const { lock } = await people.ben.locks.acquire({
      ...{ projectId: 'WEB', resources: ['name:db'], mode: 'shared' },
    });
    const answer = await acquireNext(people.robo);
    expect(answer.execution?.targetId).toBe(second);
    expect(answer.skipped).toMatchObject([
      {
        key: 'WEB-1',
        witness: 'name:db',
        with: { source: 'lock', lockId: lock?.id, storyId: null, key: null },
      },
    ]);
  });

  it('touches no file that others have touched in their work, until it has ended', async () => {
    const [first = '', second = ''] = await createReadyStories([], ['app/*/page.tsx']);
    await people.ana.stories.update({ storyId: second, labels: ['pages'] });
    const held = await startStory(people.ben, first, ['app/[id]/page.tsx']);
    expect(conflictsIn(await acquireNext(people.robo))).toEqual([
      ['WEB-2', 'app/[id]/page.tsx', 'files', 'WEB-1'],
    ]);
    const pullRequest = { number: 1, url: 'https://example.com/1' };
    await people.ben.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest });
    expect(conflictsIn(await acquireNext(people.robo))).toEqual([
      ['WEB-2', 'app/[id]/page.tsx', 'pull_request', 'WEB-1'],
    ]);
    await people.ana.deliveryExecutions.recordForgeObservation({
      executionId: held.executionId,
      observation: { dedupeKey: '1', kind: 'pr_closed', observedAt: '2026-11-21T09:30:00.000Z' },
    });
    expect((await acquireNext(people.robo, { labels: ['pages'] })).execution?.targetId).toBe(second);
  });

  it('may touch what its own run works on, and what is released', async () => {
    const [first = '', second, third] = await createReadyStories(['src/a'], ['src/**'], ['src/a/b']);
    const mine = await acquireNext(people.robo);
    expect(mine.execution?.targetId).toBe(first);
    expect((await acquireNext(people.robo)).execution?.targetId).toBe(second);
    const [other = ''] = await createReadyStories(['lib']);
    const taken = heldOf(await acquire(people.ben, other));
    const [waits] = await createReadyStories(['lib/x']);
    await people.robo.deliveryExecutions.release(heldOf(mine));
    await people.ben.deliveryExecutions.release(taken);
    const rest: (string | undefined)[] = [];
    for (
      let answer = await acquireNext(people.robo);
      answer.execution !== null;
      answer = await acquireNext(people.robo)
    )
      rest.push(answer.execution.targetId);
    expect(rest.sort()).toEqual([first, third, other, waits].sort());
  });

  it('may touch the locks and open pull requests of its other runs', async () => {
    const [, second] = await createReadyStories(['src/a'], ['src/a', 'lib', 'docs']);
    const held = heldOf(await acquireNext(people.robo, { runId: 'one' }));
    await people.robo.locks.acquire({ projectId: 'WEB', resources: ['lib'] });
    await people.robo.locks.acquire({ projectId: 'WEB', resources: ['docs'], runId: 'one' });
    const pullRequest = { number: 1, url: 'https://example.com/1' };
    await people.robo.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest });
    expect(conflictsIn(await acquireNext(people.chloe, { avoidConflicts: true }))).toHaveLength(1);
    expect((await acquireNext(people.robo, { runId: 'two' })).execution?.targetId).toBe(second);
  });

  it('touches nothing that another run of the agent has a lease on, or has locked for it', async () => {
    await createReadyStories(['src/a'], ['src'], ['lib']);
    const { execution } = await acquireNext(people.robo, { runId: 'one' });
    const executionId = execution?.id ?? '';
    await people.robo.locks.acquire({ projectId: 'WEB', resources: ['lib'], runId: 'one', executionId });
    expect(conflictsIn(await acquireNext(people.robo, { runId: 'two' }))).toEqual([
      ['WEB-2', 'src/a', 'touches', 'WEB-1'],
      ['WEB-3', 'lib', 'lock', 'WEB-1'],
    ]);
  });

  it('is one that touches nothing after other comparisons have used the budget of the search', async () => {
    const expensive = Array.from({ length: 8 }, (_, nth) => [`${nth}/**/${'*a*b'.repeat(20)}*`]);
    const ids = await createReadyStories(...expensive, ['name:x'], []);
    await people.ben.locks.acquire({ projectId: 'WEB', resources: [`**/${'*b*a'.repeat(20)}*`] });
    const answer = await acquireNext(people.robo);
    expect(answer.execution?.targetId).toBe(ids.at(-1));
    expect(conflictsIn(answer)).toEqual(
      Array.from({ length: 9 }, (_, nth) => [`WEB-${nth + 1}`, null, undefined, undefined]),
    );
  });

  it('touches what others work on where that is asked for, or a member asks', async () => {
    const [first = '', second] = await createReadyStories(['src'], ['src/a']);
    await acquire(people.ben, first);
    expect((await acquireNext(people.chloe, { avoidConflicts: true })).execution).toBeNull();
    const taken = await acquireNext(people.robo, { avoidConflicts: false });
    expect(taken.execution?.targetId).toBe(second);
    await people.robo.deliveryExecutions.release(heldOf(taken));
    expect((await acquireNext(people.chloe)).execution?.targetId).toBe(second);
  });

  it('comes once the conflict is over', async () => {
    const [first = '', second] = await createReadyStories(['src'], ['src/a']);
    const held = heldOf(await acquire(people.ben, first));
    const waiting = acquireNext(people.robo, { waitSeconds: 25 });
    await people.ben.deliveryExecutions.complete({ ...held, outcome: 'canceled' });
    expect((await waiting).execution?.targetId).toBe(second);
  });
});

describe('many agents at the same time', () => {
  const touching = ['0', '1', '2'].flatMap((part) => [
    ...[[`src/${part}/**`], [`src/${part}/a.ts`, 'docs/*.md'], [`**/${part}/a.ts`], [`lib/{${part},x}`]],
    ...[[`src/${part}`], [`lib/${part}`], ['docs/**'], [`test/${part}.spec.ts`]],
  ]);

  it('never hold two stories that share a path, and take all of them in turn', async () => {
    await createReadyStories(...touching);
    const taken = new Set<string>();
    for (let round = 1; taken.size < touching.length; round += 1) {
      expect(round).toBeLessThanOrEqual(touching.length);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => acquireNext(people.robo, { runId: `run-${round}-${index}` })),
      );
      const held = answers.filter(({ execution }) => execution !== null);
      expect(held.length).toBeGreaterThan(0);
      const { pairs } = await people.ana.projects.conflicts({
        ...{ projectId: 'WEB', storyIds: held.map(({ execution }) => execution?.targetId ?? '') },
      });
      expect(pairs).toEqual([]);
      for (const answer of held) {
        taken.add(answer.execution?.targetId ?? '');
        await people.robo.deliveryExecutions.complete({ ...heldOf(answer), outcome: 'succeeded' });
        await people.ana.stories.updateStatus({ storyId: answer.execution?.targetId ?? '', status: 'done' });
      }
    }
  });
});

describe('projects.conflicts', () => {
  const pairs = async (storyIds?: string[]) => {
    const answer = await people.dan.projects.conflicts({ projectId: 'WEB', ...(storyIds && { storyIds }) });
    expect(answer.truncated).toBe(false);
    return answer.pairs.map(({ a, b, witness, source }) => [a.key, b.key, witness, source]);
  };

  it('lists stories that touch the same, and what is locked, worked on or submitted for them', async () => {
    const [, , third = '', fourth = '', fifth = ''] = await createReadyStories(
      ['src/a'],
      ['src/a/b'],
      [],
      [],
      [],
      ['x'],
    );
    await people.ana.locks.acquire({ projectId: 'WEB', resources: ['src/a/c'], storyId: third });
    await startStory(people.ben, fourth, ['src/a/b/d']);
    const held = await startStory(people.chloe, fifth, ['src/a/b/d']);
    await people.chloe.deliveryExecutions.complete({
      ...{ ...held, outcome: 'submitted', pullRequest: { number: 1, url: 'https://example.com/1' } },
    });
    expect((await pairs()).sort()).toEqual([
      ['WEB-1', 'WEB-2', 'src/a/b', 'touches'],
      ['WEB-1', 'WEB-3', 'src/a/c', 'lock'],
      ['WEB-1', 'WEB-4', 'src/a/b/d', 'files'],
      ['WEB-1', 'WEB-5', 'src/a/b/d', 'pull_request'],
      ['WEB-2', 'WEB-4', 'src/a/b/d', 'files'],
      ['WEB-2', 'WEB-5', 'src/a/b/d', 'pull_request'],
      ['WEB-4', 'WEB-5', 'src/a/b/d', 'pull_request'],
    ]);
    expect(await pairs(['WEB-2', 'WEB-3', fourth])).toEqual([['WEB-2', 'WEB-4', 'src/a/b/d', 'files']]);
  });

  it('leaves out finished stories, and pairs of which one waits for the other', async () => {
    const [first = '', second = '', third = ''] = await createReadyStories(
      ['src'],
      ['src'],
      ['src'],
      ['src'],
    );
    await people.ana.stories.update({ storyId: second, blockedBy: [first] });
    await people.ana.stories.update({ storyId: third, blockedBy: [second] });
    await people.ana.stories.updateStatus({ storyId: 'WEB-4', status: 'done' });
    expect(await pairs()).toEqual([]);
    await people.ana.stories.updateStatus({ storyId: second, status: 'done' });
    expect(await pairs()).toEqual([['WEB-1', 'WEB-3', 'src', 'touches']]);
  });

  it('knows only stories of the project', async () => {
    await people.ana.projects.create({ key: 'APP', name: 'App' });
    await people.ana.stories.create({ projectId: 'APP', title: 'Elsewhere', touches: ['src'] });
    await createReadyStories(['src']);
    await expect(pairs(['WEB-1', 'APP-1'])).rejects.toMatchObject({
      body: { code: 'not_found', details: { path: 'storyIds.1' } },
    });
    expect(await pairs()).toEqual([]);
  });
});
