/** Tests `muster work` when this machine is at fault, or when the reader of its output is gone. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';
import { type Clone, useRunner, type StartedRunner } from './runner.ts';

const muster = useMuster();
const runner = useRunner('checkpoint: 1s\n');

let people: People;
let chloe: Client;
beforeAll(async () => {
  people = await muster.world.org();
  chloe = muster.apiClient(people.chloe);
});

/** Creates a project with the given number of stories that can start. */
async function project(key: string, stories: number): Promise<void> {
  await chloe.projects.create({ key, name: key });
  for (let count = 0; count < stories; count += 1)
    await chloe.stories.create({ projectId: key, title: 'Say good night', status: 'ready' });
}

const start = (clone: Clone, ...args: string[]) =>
  runner.start(clone, args, muster.environmentOf(people.chloe));
const sh = (script: string): string[] => ['--', 'sh', '-c', script];

/** Creates a branch at the remote whose settings contain the given hook. */
async function createBaseWithHook(clone: Clone, name: string, hook: string): Promise<string[]> {
  await clone.git('switch', '--quiet', '-c', name);
  await mkdir(path.join(clone.folder, '.muster'), { recursive: true });
  await writeFile(path.join(clone.folder, '.muster/work.yaml'), `hooks: { after_create: '${hook}' }\n`);
  await clone.git('commit', '--quiet', '--all', '--message', 'A hook');
  await clone.git('push', '--quiet', 'origin', name);
  return ['--base', name];
}

const statesIn = async (projectId: string) =>
  (await chloe.deliveryExecutions.list({ projectId })).items.map(({ state }) => state).toSorted();

/** Returns the outcome of each ended execution and the state of each other execution, sorted. */
const endsIn = async (projectId: string) =>
  (await chloe.deliveryExecutions.list({ projectId })).items
    .map(({ state, outcome }) => outcome ?? state)
    .toSorted();

const stackTraceLinesOf = ({ receivedEvents: told }: StartedRunner): string[] =>
  told.flatMap(({ event, message }) => (event === 'stderr' && /^\s+at /.test(message) ? message : []));

describe('muster work', () => {
  it('takes no other story once the machine is at fault, and brings what it has at work to its end', async () => {
    await project('ALL', 4);
    const [clone, place] = [await runner.clone(), await runner.folder()];
    // The second call of the hook fails, while an agent works in the folder of the first call.
    const hook = `mkdir ${place}/first 2> ${place}/log || ! mkdir ${place}/second`;
    const base = await createBaseWithHook(clone, 'fails-once', hook);
    const working = start(
      clone,
      ...['--next', '--project', 'ALL', '--parallel', '2', ...base],
      ...sh(`echo good > answer.txt; until [ -e ${place}/go ]; do sleep 0.1; done`),
    );
    await working.waitForEvent('warning', /was released/);
    await working.waitForEvent('started');
    await writeFile(path.join(place, 'go'), '');
    expect(await working.ended).toBe(1);
    expect(working.receivedEvents.filter(({ event }) => event === 'taken')).toHaveLength(2);
    expect(await statesIn('ALL')).toEqual(['available', 'submitted']);
  });

  it('gives a checkout back where it was on no branch, also where the work could not begin', async () => {
    await project('OFF', 1);
    const clone = await runner.clone();
    const base = await createBaseWithHook(clone, 'fails', 'exit 7');
    await clone.git('switch', '--quiet', '--detach', 'main');
    const head = await clone.git('rev-parse', 'HEAD');
    expect(await start(clone, 'OFF-1', '--here', ...base, ...sh('true')).ended).toBe(1);
    expect(await statesIn('OFF')).toEqual(['available']);
    expect([await clone.git('branch', '--show-current'), await clone.git('rev-parse', 'HEAD')]).toEqual([
      ...['', head],
    ]);
  });

  it('ends what is at work, and says that it did not come to its end, where what it prints is read no more', async () => {
    await project('GON', 1);
    const clone = await runner.clone();
    const script = 'echo half > answer.txt; while :; do echo A line; sleep 0.1; done';
    const working = start(clone, 'GON-1', ...sh(script));
    await working.waitForEvent('output');
    working.leave();
    expect(await working.ended).toBe(1);
    const [execution] = (await chloe.deliveryExecutions.list({ projectId: 'GON' })).items;
    expect(execution).toMatchObject({ state: 'available' });
    expect(await runner.git('show', `refs/muster/${execution?.id ?? ''}/1:answer.txt`)).toBe('half');
  });

  it.each([
    ['STO', 'story', () => chloe.stories.delete({ storyId: 'STO-1' })],
    [
      'PRO',
      'project',
      () => muster.apiClient(people.ana).projects.delete({ projectId: 'PRO', confirmKey: 'PRO' }),
    ],
  ])(
    'saves what it had at work, and goes on to others, once the %s %s was deleted',
    async (key, _, remove) => {
      await project(key, 1);
      const clone = await runner.clone();
      const killed = start(clone, `${key}-1`, ...sh('echo half > answer.txt; sleep 600'));
      await killed.waitForEvent('checkpoint');
      const [execution] = (await chloe.deliveryExecutions.list({ projectId: key })).items;
      killed.kill('SIGKILL');
      await killed.ended;
      await muster.world.rows(`update leases set expires_at = now() - interval '1 minute'`);
      await remove();
      expect(await start(clone, '--adopt').ended).toBe(1);
      expect(await runner.git('show', `refs/muster/${execution?.id ?? ''}/1:answer.txt`)).toBe('half');
      expect(await start(clone, '--adopt').ended).toBe(0);
    },
  );

  it('goes on with what it can, where of another run the project is archived', async () => {
    const clone = await runner.clone();
    for (const key of ['ARA', 'ARB']) {
      await project(key, 1);
      const script = `if [ -e first ]; then echo good > answer.txt; else touch first; exec sleep 600; fi`;
      const killed = start(clone, `${key}-1`, ...sh(script));
      await killed.waitForEvent('checkpoint');
      killed.kill('SIGKILL');
      await killed.ended;
    }
    await chloe.projects.update({ projectId: 'ARA', archived: true });
    expect(await start(clone, '--adopt').ended).toBe(3);
    expect(await statesIn('ARB')).toEqual(['submitted']);
    await chloe.projects.update({ projectId: 'ARA', archived: false });
    expect(await start(clone, '--adopt').ended).toBe(0);
    expect(await statesIn('ARA')).toEqual(['submitted']);
  });

  it('ends the agent once it was retired', async () => {
    await project('RET', 1);
    const clone = await runner.clone();
    const working = start(clone, 'RET-1', '--agent', 'retiree', ...sh('echo half > answer.txt; sleep 600'));
    await working.waitForEvent('checkpoint');
    const { items } = await chloe.agents.list({});
    const agentId = items.find(({ name }) => name === 'retiree')?.id ?? '';
    await chloe.agents.retire({ agentId });
    expect(await working.ended).toBe(3);
    expect(working.receivedEvents.filter(({ event }) => event === 'over')).toEqual([]);
  });

  it.each([
    ['DAA', 'the head of its worktree', 'rm "$(git rev-parse --git-dir)/HEAD"'],
    ['DAB', 'the folder of its worktree', 'rm -r "$(git rev-parse --git-dir)"'],
    ['DAC', 'the link to its repository', 'rm .git'],
  ])(
    'fails a run whose agent removed %s: %s, and goes on with the next story',
    async (key, _what, damage) => {
      await project(key, 2);
      const [clone, place] = [await runner.clone(), await runner.folder()];
      const script = `echo good > answer.txt; if mkdir ${place}/first 2> /dev/null; then ${damage}; fi`;
      const working = start(clone, '--next', '--project', key, ...sh(script));
      await working.waitForEvent('over', /^failed: /);
      await working.waitForEvent('over', /^submitted: /);
      working.kill('SIGTERM');
      expect(await working.ended).toBe(1);
      expect(await endsIn(key)).toEqual(['failed', 'submitted']);
      expect(stackTraceLinesOf(working)).toEqual([]);
    },
  );

  it.each([
    ['DRA', 'the objects', 'rm -rf "$(git rev-parse --git-common-dir)/objects"', []],
    ['DRB', 'the whole of it', 'rm -rf "$(git rev-parse --git-common-dir)"', []],
    ['DRC', 'the whole of it, in the checkout of the person', 'rm -rf .git', ['--here']],
  ])(
    'fails a run whose agent destroyed the repository, says so, and ends: %s %s',
    async (key, _what, damage, flags) => {
      await project(key, 2);
      const clone = await runner.clone();
      const script = `echo good > answer.txt; ${damage}`;
      const working = start(clone, '--next', '--project', key, ...flags, ...sh(script));
      await working.waitForEvent('over', /^failed: /);
      expect(await working.ended).toBe(1);
      expect(await endsIn(key)).toEqual(['failed']);
      expect(working.receivedEvents.filter(({ event }) => event === 'taken')).toHaveLength(1);
      expect(working.receivedEvents.at(-1)).toMatchObject({ event: 'warning' });
      expect(stackTraceLinesOf(working)).toEqual([]);
    },
  );

  it('lets go of a story that it cannot hand over, and does not try it for ever', async () => {
    await project('HAN', 1);
    const clone = await runner.clone();
    const result = { outcome: 'handoff', summary: 'half', toMemberId: 'bob' };
    const script = `echo half > answer.txt; echo '${JSON.stringify(result)}' > "$MUSTER_RESULT"`;
    expect(await start(clone, 'HAN-1', ...sh(script)).ended).toBe(1);
    expect(await statesIn('HAN')).toEqual(['available']);
    expect(await start(clone, '--adopt').ended).toBe(0);
  });
});
