/** Tests `muster work` on one story. `work-runs.long.spec.ts` tests several runs. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useMuster } from './muster.ts';
import { type Clone, useRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const { createStory: story, executionOf } = stories;
const runner = useRunner(`
hooks:
  after_create: echo made > made.log
branch: work/{key}-{epoch}
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
  it('takes a story, works on it in a worktree of its own, and hands in a branch', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const working = start(clone, key, ...sh('cat > prompt.txt; pwd > where.txt; echo good > answer.txt'));
    expect(await working.ended).toBe(0);
    const { folder, branch } = await working.waitForEvent('prepared');
    expect(branch).toBe(`work/${key}-1`);
    expect(await runner.git('show', `${branch}:where.txt`)).toBe(folder);
    expect(await runner.git('show', `${branch}:prompt.txt`)).toMatch(
      /^# WEB-\d+: Say good night\n[^]*It says good night\./,
    );
    expect(await runner.git('show', `${branch}:made.log`)).toBe('made');
    const execution = await executionOf(key);
    expect(execution).toMatchObject({ state: 'submitted', git: { branch, baseBranch: 'main' } });
    expect(execution?.git?.headSha).toBe(await runner.git('rev-parse', branch ?? ''));
    expect((await stories.chloe.stories.get({ storyId: key })).story.status).toBe('in_review');
    // The files are at the remote, so the worktree and the journal entry were removed.
    expect(await clone.git('worktree', 'list')).not.toContain(folder);
    expect(await readdir(path.join(clone.folder, '.git/muster/runs'))).toEqual([]);
  });

  it('ends a shortened spec at a line end, and names the command that prints all of it', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const lines = Array.from({ length: 4_000 }, (_, index) => `Rule ${index}: it says good night. End`);
    await stories.chloe.storySpec.update({ storyId: key, content: lines.join('\n') });
    const agent = `cat > prompt.txt; sh -c "$(grep -o 'muster story-spec get .*' prompt.txt)" > spec.txt`;
    expect(await start(clone, key, ...sh(agent)).ended).toBe(0);
    const prompt = await runner.git('show', `work/${key}-1:prompt.txt`);
    const spec = /\n## Spec\n\n([^]*?)\n\n## /.exec(prompt)?.[1]?.split('\n') ?? [];
    expect(spec.length).toBeGreaterThan(1_000);
    expect(spec).toEqual(lines.slice(0, spec.length));
    expect(await runner.git('show', `work/${key}-1:spec.txt`)).toContain(lines.at(-1));
  });

  it('works as an agent of the caller, with a token of the run that ends with it, and with listed variables alone', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const working = start(
      clone,
      key,
      '--agent',
      'Builder',
      '--env',
      'NAMED',
      ...sh('env > env.txt; echo good > answer.txt'),
    );
    expect(await working.ended).toBe(0);
    const env = await runner.git('show', `work/${key}-1:env.txt`);
    expect(env).toMatch(/^NAMED=for agents$/m);
    expect(env).not.toMatch(/SECRET|GIT_CONFIG/);
    expect(env).toMatch(new RegExp(`^MUSTER_STORY=${key}$`, 'm'));
    expect(env).toMatch(/^MUSTER_PORT_BASE=\d+$/m);
    const [, token = ''] = /^MUSTER_TOKEN=(.*)$/m.exec(env) ?? [];
    expect(token).not.toBe(stories.people.chloe.me.token);
    await expect(
      muster.run(['whoami'], { env: { MUSTER_BASE_URL: muster.url(), MUSTER_TOKEN: token } }),
    ).resolves.toMatchObject({ code: 3 });
    const { items: agents } = await stories.chloe.agents.list({});
    const builder = agents.find(({ slug }) => slug === 'builder');
    const { items: tokens } = await stories.chloe.tokens.list({ includeEnded: true });
    expect(tokens.filter(({ agentId }) => agentId === builder?.id)).toMatchObject([
      { scopes: ['write'], revokedAt: expect.any(String), projectIds: [expect.any(String)] },
    ]);
  });

  it('sends the output as the log of the run, in order, without the secrets of the machine', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const agent =
      'for line in 1 2 3; do echo "line $line"; done; echo "at $MUSTER_TOKEN" >&2; echo good > answer.txt';
    expect(await start(clone, key, ...sh(agent)).ended).toBe(0);
    const execution = await executionOf(key);
    const { run, steps } = await stories.chloe.agents.runs.get({ runId: execution?.id ?? '' });
    expect(run).toMatchObject({ state: 'completed', story: { key }, runId: execution?.runId });
    expect(steps.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['acquired', 'checkpointed', 'submitted']),
    );
    const { items, dropped } = await stories.chloe.agents.runs.log({ runId: run.runId });
    const of = (wanted: string) =>
      items.flatMap(({ stream, message }) => (stream === wanted ? [message] : []));
    expect(of('stdout')).toEqual(['line 1', 'line 2', 'line 3']);
    expect(of('stderr')).toEqual(['at [secret]']);
    expect(dropped).toBe(0);
  });

  it('reports the usage in the output as that of the run, and stops an agent whose budget it uses up', async () => {
    const [key, clone] = [await story(), await runner.clone()];
    const line = (costUSD: number): string => {
      const used = {
        inputTokens: 100,
        cacheCreationInputTokens: 20,
        cacheReadInputTokens: 7,
        outputTokens: 9,
      };
      return JSON.stringify({
        type: 'result',
        usage: {},
        modelUsage: { 'claude-opus-5': { ...used, costUSD } },
      });
    };
    const print = (costUSD: number): string => `printf '%s\n' '${line(costUSD)}'; echo good > answer.txt`;
    expect(await start(clone, key, ...sh(print(0.4))).ended).toBe(0);
    const usageOf = async (runId = '') => (await stories.chloe.agents.runs.get({ runId })).usage;
    const counts = { model: 'claude-opus-5', inputTokens: 120, outputTokens: 9, cachedTokens: 7 };
    expect(await usageOf((await executionOf(key))?.id)).toMatchObject([{ ...counts, costMicros: 400_000 }]);

    const stopped = await story();
    await muster.apiClient(stories.people.ana).budgets.set({
      ...{ scope: 'story', targetId: stopped, amountMicros: 500_000, period: 'total', action: 'stop' },
    });
    await start(clone, stopped, ...sh(`${print(0.6)}; exec sleep 600`)).ended;
    const execution = await executionOf(stopped);
    expect(execution).toMatchObject({ state: 'completed', outcome: 'canceled' });
    expect(await usageOf(execution?.id)).toMatchObject([{ ...counts, costMicros: 600_000 }]);
  });
});
