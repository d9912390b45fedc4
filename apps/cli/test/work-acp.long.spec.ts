import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useConcurrentScenarios } from './beside.ts';
import { useMuster } from './muster.ts';
import { isProcessAlive, useRunner, type StartedRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const { executionOf } = stories;
const runner = useRunner(`
agent:
  name: acp
  permissions: { fetch: deny, delete: ask }
hooks:
  verify: grep -q good answer.txt
branch: work/{key}-{epoch}
checkpoint: 1s
`);
const agentFile = path.join(import.meta.dirname, 'acp-agent.ts');

interface TalkingRunner extends StartedRunner {
  readonly key: string;
  /** Reads a file that the agent wrote. Returns its lines as JSON values. */
  read<Line>(file: string): Promise<Line[]>;
  tell(file: string): Promise<void>;
}

/** Runs `muster work` on a new story with an agent of the given behavior. */
async function start(behaviour: string): Promise<TalkingRunner> {
  const [{ story }, clone, place] = [
    await stories.chloe.stories.create({
      ...{ projectId: 'WEB', title: 'Say good night', status: 'ready', spec: 'It says good night.' },
    }),
    await runner.clone(),
    await runner.folder(),
  ];
  const command = ['--acp', '--', process.execPath, agentFile, behaviour, place];
  const working = runner.start(clone, [story.key, ...command], muster.environmentOf(stories.people.chloe));
  return {
    ...working,
    key: story.key,
    read: async (file) =>
      (await readFile(path.join(place, file), 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as never),
    tell: (file) => writeFile(path.join(place, file), ''),
  };
}

interface Session {
  readonly method: string;
  readonly cwd: string;
  readonly mcpServers: {
    readonly name: string;
    readonly url: string;
    readonly headers: readonly { readonly value: string }[];
  }[];
}

describe('an agent by the Agent Client Protocol', () => {
  const beside = useConcurrentScenarios(2);

  it('is told the story in a session of its worktree, and is handed in with its last words', async () => {
    const working = await start('works');
    expect(await working.ended).toBe(0);
    const { folder } = await working.waitForEvent('prepared');
    const [session] = await working.read<Session>('sessions');
    expect(session).toMatchObject({ method: 'new', cwd: folder });
    const [prompt = ''] = await working.read<string>('prompts');
    expect(prompt).toMatch(/^# WEB-\d+: Say good night\n[^]*when your turn ends[^]*It says good night\./);
    // The agent's messages are shown one line at a time.
    const said = working.receivedEvents
      .filter(({ event }) => event === 'output')
      .map(({ message }) => message);
    expect(said).toEqual(['I begin.', '· Write answer.txt', 'It says good night.']);
    const execution = await executionOf(working.key);
    expect(execution).toMatchObject({
      state: 'submitted',
      summary: 'It says good night.',
      progress: 50,
      git: { branch: `work/${working.key}-1` },
    });
    expect(await runner.git('show', `work/${working.key}-1:answer.txt`)).toBe('good');
    const { usage } = await stories.chloe.agents.runs.get({ runId: execution?.id ?? '' });
    const tokens = { inputTokens: 120, outputTokens: 80, cachedTokens: 700, costMicros: 0 };
    expect(usage).toMatchObject([
      { model: 'acp', costMicros: 250_000 },
      { model: 'spec-1', ...tokens },
    ]);
  });

  it('has the last message alone as its last words', async () => {
    const working = await start('says two messages');
    expect(await working.ended).toBe(0);
    const said = working.receivedEvents
      .filter(({ event }) => event === 'output')
      .map(({ message }) => message);
    expect(said).toEqual(['A notice of the agent.', 'It says good night.']);
    expect(await executionOf(working.key)).toMatchObject({ summary: 'It says good night.' });
  });

  it("gets Muster's tools by the token of its run", async () => {
    const working = await start('works');
    await working.ended;
    const [session] = await working.read<Session>('sessions');
    const [server] = session?.mcpServers ?? [];
    // The server's name differs from any name that the user may have chosen. Clients store what they know of
    // a server, such as a required sign-in, by its name.
    expect(server?.name).toBe('muster-run');
    expect(server?.url).toBe(`${muster.url()}/api/mcp?mode=core&project=WEB`);
    const [, token = ''] = /^Bearer (.+)$/.exec(server?.headers[0]?.value ?? '') ?? [];
    expect(token).not.toBe('');
    expect(token).not.toBe(stories.people.chloe.me.token);
  });

  it('goes on in its session, told what does not pass and nothing else', async () => {
    const working = await start('mends what does not pass');
    expect(await working.ended).toBe(0);
    const sessions = await working.read<Session>('sessions');
    expect(sessions.map(({ method }) => method)).toEqual(['new', 'load']);
    const [, second = ''] = await working.read<string>('prompts');
    expect(second).toMatch(/^Your work does not pass the checks:\n\nverify ended with 1/);
    // Messages that the session repeats when it is loaded are not shown again.
    expect(working.receivedEvents.map(({ message }) => message)).not.toContain('Of long ago.');
  });

  it('hears in another turn of the same session what changed while it was at work', async () => {
    const working = await start('waits for the spec');
    await working.waitForEvent('checkpoint');
    const { spec } = await stories.chloe.storySpec.get({ storyId: working.key });
    await stories.chloe.storySpec.update({
      ...{ storyId: working.key, content: 'It says good morning.' },
      baseVersion: spec.version,
    });
    await working.tell('go');
    expect(await working.ended).toBe(0);
    const prompts = await working.read<string>('prompts');
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toMatch(/## What is new\n\nThe spec has changed[^]*It says good morning\./);
    expect(await working.read('sessions')).toHaveLength(1);
  });

  it('gets leave by the wishes of the repository, never for a change outside of its worktree, and asks people where they say so', async () => {
    const working = await start('asks for permission');
    await working.waitForEvent('asked');
    const { items } = await stories.chloe.comments.list({ storyId: working.key });
    const [question] = items;
    expect(question).toMatchObject({ kind: 'question' });
    expect(question?.body).toContain('asks for permission: answer.txt');
    expect(await executionOf(working.key)).toMatchObject({
      state: 'waiting_input',
      waitingFor: { questionId: question?.id },
    });
    await stories.chloe.comments.create({
      ...{ storyId: working.key, parentId: question?.id ?? '', body: 'Always, it is yours.' },
    });
    await stories.chloe.comments.resolve({ commentId: question?.id ?? '' });
    expect(await working.ended).toBe(0);
    expect(await working.read('outcomes')).toEqual([
      ['npm test', 'once'],
      ['inside', 'once'],
      ['outside', 'no'],
      ['a page', 'no'],
      ['answer.txt', 'always'],
    ]);
    // A question that the runner asked is not news for the agent.
    expect(await working.read('prompts')).toHaveLength(1);
  });

  it('is asked to go on where it ran out of requests', async () => {
    const working = await start('runs out of requests');
    expect(await working.ended).toBe(0);
    expect((await working.read<string>('prompts'))[1]).toBe('Continue where you left off.');
  });

  it.each([
    ['dies in its turn', 'agent_error', /did not end its turn: it ended with 3\.\nOut of ideas\./],
    ['refuses', 'agent_error', /refused to continue/],
    ['runs out of tokens', 'context_exhausted', /reached the token limit/],
  ])('fails where it %s, with why', async (behaviour, failure, summary) => {
    const working = await start(behaviour);
    expect(await working.ended).toBe(1);
    const execution = await executionOf(working.key);
    expect(execution).toMatchObject({ state: 'completed', outcome: 'failed', failure });
    expect(execution?.summary).toMatch(summary);
  });

  for (const behaviour of ['hears nothing', 'leaves off when it is told']) {
    beside(`is stopped with all of its processes: one that ${behaviour}`, async () => {
      const working = await start(behaviour);
      await working.waitForEvent('checkpoint');
      const execution = await executionOf(working.key);
      await stories.chloe.deliveryExecutions.update({ executionId: execution?.id ?? '', requestStop: true });
      expect(await working.ended).toBe(1);
      expect(await executionOf(working.key)).toMatchObject({ state: 'completed', outcome: 'canceled' });
      expect(await runner.git('show', `refs/muster/${execution?.id ?? ''}/1:answer.txt`)).toBe('half');
      const pids = await working.read<number>('pids');
      expect(pids).toHaveLength(behaviour === 'hears nothing' ? 3 : 0);
      expect(await Promise.all(pids.map((pid) => isProcessAlive(String(pid))))).not.toContain(true);
      expect(await working.read('outcomes')).toEqual(behaviour === 'hears nothing' ? [] : ['left off']);
    });
  }

  beside('is given no leave once it is stopped, and people are not asked', async () => {
    const working = await start('asks when it is told to stop');
    await working.waitForEvent('checkpoint');
    const execution = await executionOf(working.key);
    await stories.chloe.deliveryExecutions.update({ executionId: execution?.id ?? '', requestStop: true });
    expect(await working.ended).toBe(1);
    expect(await working.read('outcomes')).toEqual([['answer.txt', 'cancelled']]);
    expect((await stories.chloe.comments.list({ storyId: working.key })).items).toEqual([]);
  });

  for (const [behaviour, why] of [
    ['wants a login', /Authentication required/],
    ['wants a login at its first turn', /could not start: Authentication required/],
    ['speaks another version', /protocol version 7 instead of 1/],
  ] as const) {
    beside(`gives the story back where the agent ${behaviour}, and takes no other`, async () => {
      const working = await start(behaviour);
      expect(await working.ended).toBe(1);
      expect(await executionOf(working.key)).toMatchObject({ state: 'available' });
      expect(working.receivedEvents.map(({ message }) => message).join('\n')).toMatch(why);
    });
  }
});
