import { mkdir, readdir, readFile, watch, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { useConcurrentScenarios } from './beside.ts';
import { useMuster } from './muster.ts';
import { type Clone, isProcessAlive, useRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const { createStory: story, executionOf } = stories;
const runner = useRunner(`
hooks:
  after_create: echo made > made.log
  verify: grep -q good answer.txt
branch: work/{key}-{epoch}
checkpoint: 1s
ports: 5
`);

const start = (clone: Clone, ...args: string[]) =>
  runner.start(clone, args, {
    ...muster.environmentOf(stories.people.chloe),
    SECRET: 'not for agents',
    NAMED: 'for agents',
  });
const sh = (script: string): string[] => ['--', 'sh', '-c', script];

describe('muster work', () => {
  const beside = useConcurrentScenarios(2);

  it('starts the agent again with what was wrong, and fails what does not pass', async () => {
    const [key, bad, clone] = [await story('Say it', ['docs']), await story(), await runner.clone()];
    const mended = start(
      clone,
      key,
      ...sh(
        'cat > prompt.txt; if grep -q "does not pass" prompt.txt; then echo good > answer.txt; else echo poor > answer.txt; fi',
      ),
    );
    expect(await mended.ended).toBe(0);
    await mended.waitForEvent('warning', /changed files outside of its touches: answer\.txt/);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted' });
    const working = start(clone, bad, ...sh('echo poor > answer.txt'));
    expect(await working.ended).toBe(1);
    const execution = await executionOf(bad);
    expect(execution).toMatchObject({ state: 'completed', outcome: 'failed', failure: 'agent_error' });
    // Although the work failed, the files of the agent are at the remote.
    expect(await runner.git('show', `refs/muster/${execution?.id ?? ''}/1:answer.txt`)).toBe('poor');
  });

  it.each([
    ['an agent that fails', 'echo "out of ideas"; exit 3', 'agent_error', /ended with 3\.\nout of ideas/],
    ['an agent that changes nothing', 'true', 'agent_error', /verify ended with|without a change/],
    [
      'an agent that removes its folder',
      'echo x > answer.txt; rm -rf "$PWD"',
      'agent_error',
      /removed its own folder/,
    ],
    [
      'a result that says why',
      `echo '{"outcome":"failed","failure":"rate_limited","summary":"Later"}' > "$MUSTER_RESULT"`,
      'rate_limited',
      /^Later/,
    ],
  ])('fails %s, with why', async (_, script, failure, summary) => {
    const [key, clone] = [await story(), await runner.clone()];
    expect(await start(clone, key, ...sh(script)).ended).toBe(1);
    const execution = await executionOf(key);
    expect(execution).toMatchObject({ outcome: 'failed', failure });
    expect(execution?.summary).toMatch(summary);
  });

  it('hands over to whom the agent names', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const to = stories.people.chloe.me.memberId;
    const result = JSON.stringify({ outcome: 'handoff', summary: 'A person has to look', toMemberId: to });
    expect(
      await start(clone, key, ...sh(`echo half > answer.txt; echo '${result}' > "$MUSTER_RESULT"`)).ended,
    ).toBe(0);
    expect(await executionOf(key)).toMatchObject({ state: 'offered', offer: { toMemberId: to } });
  });

  it('finds, after a runner that was killed, that the agent has removed its folder', async () => {
    const [key, clone, place] = [await story(), await runner.clone(), await runner.folder()];
    const script = `rm -rf "$PWD"; echo gone > ${place}/gone; exec sleep 600`;
    const working = start(clone, key, ...sh(script));
    for await (const { filename } of watch(place)) if (filename === 'gone') break;
    working.kill('SIGKILL');
    await working.ended;
    expect(await start(clone, '--adopt').ended).toBe(1);
    const execution = await executionOf(key);
    expect(execution).toMatchObject({ state: 'completed', outcome: 'failed', failure: 'agent_error' });
    expect(execution?.summary).toMatch(/removed its own folder/);
  });

  it('leaves no folder that it does not know, wherever it is killed or fails before the agent begins', async () => {
    const [key, clone, place] = [await story(), await runner.clone(), await runner.folder()];
    const worktrees = async () => (await clone.git('worktree', 'list')).split('\n').length - 1;
    await clone.git('switch', '-qc', `slow-${key.toLowerCase()}`);
    const hook = `if [ -e ${place}/fails ]; then exit 7; fi; echo 1 > ${place}/begun; sleep 600`;
    await writeFile(path.join(clone.folder, '.muster/work.yaml'), `hooks: { after_create: '${hook}' }\n`);
    await clone.git('commit', '-qam', 'Slow');
    await clone.git('push', '-q', 'origin', 'HEAD');
    const base = ['--base', `slow-${key.toLowerCase()}`];
    const working = start(clone, key, ...base, ...sh('true'));
    for await (const { filename } of watch(place)) if (filename === 'begun') break;
    working.kill('SIGKILL');
    await working.ended;
    expect(await worktrees()).toBe(1);
    await muster
      .apiClient(stories.people.ana)
      .deliveryExecutions.acquire({ targetType: 'story', targetId: key, takeOver: true });
    expect(await start(clone, '--adopt').ended).toBe(1);
    expect(await worktrees()).toBe(0);
    await writeFile(path.join(place, 'fails'), '');
    const failing = await story();
    expect(await start(clone, failing, ...base, ...sh('true')).ended).toBe(1);
    expect(await worktrees()).toBe(0);
    expect(await executionOf(failing)).toMatchObject({ state: 'available' });
    expect(await clone.git('branch', '--list', 'muster/*')).toBe('');
  });

  it('works in the checkout where it is told, and gives it back', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    await writeFile(path.join(clone.folder, 'mine.txt'), 'mine');
    const refused = start(clone, key, '--here', ...sh('true'));
    expect(await refused.ended).toBe(2);
    await clone.git('clean', '-qf');
    expect(await start(clone, key, '--here', ...sh('echo good > answer.txt')).ended).toBe(0);
    expect(await clone.git('branch', '--show-current')).toBe('main');
    expect(await runner.git('show', `work/${key}-1:answer.txt`)).toBe('good');
  });

  it('says what is wrong with the command line, the place and the wishes of the repository', async () => {
    const clone = await runner.clone();
    expect(await start(clone, 'WEB-9999', ...sh('true')).ended).toBe(3);
    expect(await readdir(path.join(clone.folder, '.git/muster/runs'))).toEqual([]);
    const failing = async (...args: string[]): Promise<string> => {
      const working = start(clone, ...args);
      expect(await working.ended).toBe(2);
      return working.receivedEvents.map(({ message }) => message).join('\n');
    };
    expect(await failing()).toContain('no story is given');
    expect(await failing('--next', ...sh('true'))).toContain('--next needs --project');
    expect(await failing('WEB', ...sh('true'))).toContain('is not a story key');
    expect(await failing('--adopt', '--take-over')).toContain('--take-over needs a story');
    expect(await failing('WEB-1')).toContain('no agent is given');
    expect(await failing('WEB-1', '--base', 'nowhere', ...sh('true'))).toContain(
      'fetching nowhere from origin failed',
    );
    await clone.git('switch', '-qc', 'wrong');
    await mkdir(path.join(clone.folder, '.muster'), { recursive: true });
    await writeFile(
      path.join(clone.folder, '.muster/work.yaml'),
      'branch: mine\nhooks: {verify: 3}\nagents: x\n',
    );
    await clone.git('commit', '-qam', 'Wrong');
    await clone.git('push', '-q', 'origin', 'wrong');
    const said = await failing('WEB-1', '--base', 'wrong', ...sh('true'));
    expect(said).toContain('.muster/work.yaml of wrong is invalid:');
    expect(said).toMatch(/branch: must contain \{key\} and \{epoch\}/);
    expect(said).toMatch(/hooks\.verify: must be a command/);
    expect(said).toContain('agents');
  });

  beside('obeys a stop with all processes of the agent, and keeps what it wrote', async () => {
    const [key, clone, place] = [await story(), await runner.clone(), await runner.folder()];
    // One process ignores SIGTERM, and one has left the process group.
    const script = `trap '' TERM; echo half > answer.txt; setsid sleep 601 & echo $! > ${place}/pids; sleep 602 & echo $! >> ${place}/pids; while :; do sleep 1; done`;
    const working = start(clone, key, ...sh(script));
    await working.waitForEvent('checkpoint');
    const execution = await executionOf(key);
    const asked = performance.now();
    await stories.chloe.deliveryExecutions.update({ executionId: execution?.id ?? '', requestStop: true });
    expect(await working.ended).toBe(1);
    expect(performance.now() - asked).toBeLessThan(25_000);
    expect(await executionOf(key)).toMatchObject({ state: 'completed', outcome: 'canceled' });
    expect(await runner.git('show', `refs/muster/${execution?.id ?? ''}/1:answer.txt`)).toBe('half');
    const pids = (await readFile(path.join(place, 'pids'), 'utf8')).trim().split('\n');
    expect(pids).toHaveLength(2);
    expect(await Promise.all(pids.map(isProcessAlive))).toEqual([false, false]);
  });

  beside('writes what members say into $MUSTER_SIGNALS while the agent works', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const script = `echo good > answer.txt; until grep -qs "Half to even" "$MUSTER_SIGNALS"; do sleep 0.1; done; cp "$MUSTER_SIGNALS" heard.txt`;
    const working = start(clone, key, ...sh(script));
    await working.waitForEvent('checkpoint');
    await stories.chloe.comments.create({ storyId: key, body: 'Half to even, please.' });
    expect(await working.ended).toBe(0);
    const heard = await runner.git('show', `work/${key}-1:heard.txt`);
    expect(JSON.parse(heard)).toMatchObject({ kind: 'new_comments' });
  });

  beside('takes the next ones, several at a time, until there is none', async () => {
    await stories.chloe.projects.create({ key: 'NXT', name: 'Next' });
    const clone = await runner.clone();
    const working = start(
      clone,
      '--next',
      '--project',
      'NXT',
      '--parallel',
      '2',
      '--agent',
      'Pair',
      ...sh('echo good > answer.txt'),
    );
    // While there is no story to acquire, the runner reports that and waits.
    await working.waitForEvent('none');
    for (const title of ['One', 'Two', 'Three'])
      await stories.chloe.stories.create({ projectId: 'NXT', title, status: 'ready' });
    for (const key of ['NXT-1', 'NXT-2', 'NXT-3'])
      await working.waitForEvent('over', new RegExp(`submitted: ${key} `));
    const lastOf = (wanted: string) => working.receivedEvents.findLastIndex(({ event }) => event === wanted);
    await waitUntil(() => lastOf('none') > lastOf('over'));
    expect(working.receivedEvents.filter(({ event }) => event === 'warning')).toEqual([]);
    // A story on which another slot of the same runner works is not reported.
    const nones = working.receivedEvents.filter(({ event }) => event === 'none');
    expect(JSON.stringify(nones)).not.toContain('lease_held');
    working.kill('SIGTERM');
    expect(await working.ended).toBe(0);
    const { items } = await stories.chloe.deliveryExecutions.list({ projectId: 'NXT' });
    expect(items.map(({ state }) => state)).toEqual(['submitted', 'submitted', 'submitted']);
    const once = (...agent: string[]) => start(clone, '--next', '--project', 'NXT', '--once', ...agent);
    expect(await once(...sh('true')).ended).toBe(0);
    // With --once a runner works on one story. A resumed story counts as that story.
    for (const title of ['Four', 'Five'])
      await stories.chloe.stories.create({ projectId: 'NXT', title, status: 'ready' });
    const killed = once(
      ...sh('if [ -e one.txt ]; then echo good > answer.txt; else touch one.txt; sleep 600; fi'),
    );
    await killed.waitForEvent('checkpoint');
    killed.kill('SIGKILL');
    await killed.ended;
    const again = once(...sh('true'));
    expect(await again.ended).toBe(0);
    expect(again.receivedEvents.filter(({ event }) => event === 'over')).toHaveLength(1);
    expect(await executionOf('NXT-4')).toMatchObject({ state: 'submitted' });
    expect(await executionOf('NXT-5')).toBeNull();
  });

  beside(
    'lets go of the story when it is asked to end, and another machine goes on from the checkpoint',
    async () => {
      const [key, first, second] = [await story(), await runner.clone(), await runner.clone()];
      const working = start(
        first,
        key,
        ...sh('echo one > answer.txt; git add .; git commit -qm One; echo two > more.txt; sleep 600'),
      );
      await working.waitForEvent('checkpoint', /2 files|3 files/);
      working.kill('SIGINT');
      expect(await working.ended).toBe(1);
      expect(await executionOf(key)).toMatchObject({ state: 'available' });
      const other = start(
        second,
        key,
        ...sh(
          'cat answer.txt more.txt > seen.txt; git status --porcelain > status.txt; echo good > answer.txt',
        ),
      );
      expect(await other.ended).toBe(0);
      expect(await runner.git('show', `work/${key}-2:seen.txt`)).toBe('one\ntwo');
      // Changes that the earlier holder had not committed are restored as uncommitted changes.
      expect(await runner.git('show', `work/${key}-2:status.txt`)).toContain('?? more.txt');
      expect(await runner.git('log', '--format=%s', `work/${key}-2`)).toContain('One');
      await expect(runner.git('rev-parse', `work/${key}-1`)).rejects.toThrow();
    },
  );

  beside('takes over the live work of a dead machine, and continues from its checkpoint', async () => {
    const [key, first, second] = [await story(), await runner.clone(), await runner.clone()];
    const dead = start(first, key, ...sh('echo half > answer.txt; sleep 600'));
    await dead.waitForEvent('checkpoint');
    dead.kill('SIGKILL');
    await dead.ended;
    expect((await executionOf(key))?.lease).toMatchObject({ ttlSeconds: 90 });
    const good = sh('cp answer.txt seen.txt; echo good > answer.txt');
    const refused = start(second, key, ...good);
    expect((await refused.waitForEvent('none')).message).toContain('add --take-over');
    expect(await refused.ended).toBe(3);
    const working = start(second, key, '--take-over', ...good);
    expect(await working.ended).toBe(0);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', attempt: 2 });
    expect(await runner.git('show', `work/${key}-2:seen.txt`)).toBe('half');
    expect(await start(first, '--adopt').ended).toBe(1);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', attempt: 2 });
  });

  beside('goes on after a runner that was killed, to the same end', async () => {
    const [key, clone, place] = [await story(), await runner.clone(), await runner.folder()];
    const script = `echo x >> ${place}/starts; cat > prompt.txt; if [ -e first.txt ]; then echo good > answer.txt; else echo 1 > first.txt; sleep 600 & echo $! > ${place}/pid; wait; fi`;
    const working = start(clone, key, ...sh(script));
    await working.waitForEvent('checkpoint');
    working.kill('SIGKILL');
    expect(await working.ended).toBeNull();
    const again = start(clone, key, ...sh('exit 9'));
    expect(await again.ended).toBe(0);
    await again.waitForEvent('adopted');
    expect(await readFile(path.join(place, 'starts'), 'utf8')).toBe('x\nx\n');
    expect(await isProcessAlive((await readFile(path.join(place, 'pid'), 'utf8')).trim())).toBe(false);
    expect(await runner.git('show', `work/${key}-1:prompt.txt`)).toContain('You were interrupted');
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', attempt: 1 });
    expect(await readdir(path.join(clone.folder, '.git/muster/runs'))).toEqual([]);
  });

  it('deletes the checkpoints of work that succeeded, and of no other', async () => {
    const [key, other, clone] = [await story(), await story(), await runner.clone()];
    for (const one of [key, other])
      expect(await start(clone, one, ...sh('echo good > answer.txt')).ended).toBe(0);
    const [landed, submitted] = [(await executionOf(key))?.id ?? '', (await executionOf(other))?.id ?? ''];
    await muster.apiClient(stories.people.chloe).deliveryExecutions.recordForgeObservation({
      executionId: landed,
      observation: { kind: 'pr_merged', dedupeKey: 'm', observedAt: new Date().toISOString() },
    });
    const checkpoints = () => runner.git('for-each-ref', '--format=%(refname)', 'refs/muster');
    expect(await checkpoints()).toContain(`refs/muster/${landed}/1`);
    const cleaned = start(clone, '--clean');
    expect(await cleaned.ended).toBe(0);
    expect(await checkpoints()).not.toContain(landed);
    expect(await checkpoints()).toContain(`refs/muster/${submitted}/1`);
    expect(await clone.git('for-each-ref', '--format=%(refname)', 'refs/muster')).not.toContain(landed);
  });

  beside('stops the agent at once when another has the lease, and pushes nothing to the branch', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const working = start(clone, key, ...sh('echo good > answer.txt; sleep 600'));
    await working.waitForEvent('checkpoint');
    await muster
      .apiClient(stories.people.ana)
      .deliveryExecutions.acquire({ targetType: 'story', targetId: key, takeOver: true });
    expect(await working.ended).toBe(1);
    expect((await working.waitForEvent('over')).outcome).toBe('lost');
    await expect(runner.git('rev-parse', `work/${key}-1`)).rejects.toThrow();
    const { kept, message } = await working.waitForEvent('over');
    expect(kept).toMatch(/find the cause/);
    expect(message).toContain('was kept');
    const cleaned = start(clone, '--clean');
    expect(await cleaned.ended).toBe(0);
    expect((await cleaned.waitForEvent('cleaned')).message).toContain('was removed');
  });
});
