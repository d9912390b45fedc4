/** Runs after the fact: their lists, their steps, and their logs. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { createFilesFolder, storeFile } from './files.ts';
import { createOrgWithStory, runRef, target } from './one-story.ts';

const folder = await createFilesFolder();
const api = useApi({ FILES_FOLDER: folder });
afterAll(() => rm(folder, { recursive: true, force: true }));
let people: People<AllHandlers>;

beforeEach(async () => {
  people = await createOrgWithStory(api);
});

const log = (lines: readonly string[], more: object = {}) =>
  people.robo.agents.runEvent({
    ...{ ...runRef, kind: 'log' },
    ...{ lines: lines.map((message) => ({ stream: 'stdout', message })) },
    ...more,
  });

describe('the log of a run', () => {
  it('keeps single lines and many lines in order, with their streams', async () => {
    const { robo, dan } = people;
    const { run: begun } = await robo.agents.runEvent({
      ...{ ...runRef, kind: 'log', message: 'first' },
      data: { stream: 'stderr' },
    });
    expect(begun).toMatchObject({ state: 'running', lastEvent: { kind: 'log' } });
    await robo.agents.runEvent({ ...runRef, kind: 'waiting', message: 'Which one?' });
    const { run: logged } = await robo.agents.runEvent({
      ...{ ...runRef, kind: 'log' },
      lines: [{ message: 'second' }, { stream: 'tool', message: 'third\nwith a second row' }],
    });
    expect(logged).toMatchObject({ state: 'waiting', lastEvent: { kind: 'waiting' } });
    const all = await dan.agents.runs.log({ runId: 'run-1' });
    expect(all).toMatchObject({ dropped: 0, lastLine: 3, state: 'waiting' });
    expect(all.items.map(({ line, stream, message }) => [line, stream, message])).toEqual([
      [1, 'stderr', 'first'],
      [2, 'stdout', 'second'],
      [3, 'tool', 'third\nwith a second row'],
    ]);
    const rest = await dan.agents.runs.log({ runId: 'run-1', afterLine: 1, limit: 1 });
    expect(rest.items.map(({ line }) => line)).toEqual([2]);
  });

  it('counts a repeated event once', async () => {
    await log(['one'], { dedupeKey: 'a' });
    await log(['one'], { dedupeKey: 'a' });
    expect(await people.dan.agents.runs.log({ runId: 'run-1' })).toMatchObject({ lastLine: 1 });
  });

  it('numbers the lines of callers that write at the same time without gaps', async () => {
    await log(['begin']);
    await Promise.all(Array.from({ length: 8 }, (_, nth) => log([`${nth} a`, `${nth} b`])));
    const { items } = await people.dan.agents.runs.log({ runId: 'run-1' });
    expect(items.map(({ line }) => line)).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
    const pairs = items.slice(1).map(({ message }) => message.slice(0, 1));
    expect(pairs.filter((nth, index) => index % 2 === 0 && nth !== pairs[index + 1])).toEqual([]);
  });

  it('drops the oldest lines beyond 5,000, counts them, and stores no more', async () => {
    for (let call = 0; call < 26; call += 1)
      await log(Array.from({ length: 200 }, (_, nth) => `${call * 200 + nth + 1}`));
    await log(['5201']);
    const start = await people.dan.agents.runs.log({ runId: 'run-1', limit: 1 });
    expect(start).toMatchObject({ dropped: 201, lastLine: 5_201, items: [{ line: 202, message: '202' }] });
    const end = await people.dan.agents.runs.log({ runId: 'run-1', afterLine: 5_199 });
    expect(end.items.map(({ message }) => message)).toEqual(['5200', '5201']);
    const [stored] = await api.world.rows<{ lines: number }>(
      'select sum(jsonb_array_length(lines))::int as lines from run_logs where org_id = $1',
      people.orgId,
    );
    expect(stored?.lines).toBe(5_001);
  });

  it('refuses lines that are too long, of an unknown stream, without text, or of another kind', async () => {
    const path = (field: string) => ({
      status: 400,
      body: { details: { issues: [expect.objectContaining({ path: field })] } },
    });
    const { robo } = people;
    await robo.agents.runEvent({ ...runRef, kind: 'log', message: 'é'.repeat(4_096) });
    await expect(
      robo.agents.runEvent({ ...runRef, kind: 'log', message: 'é'.repeat(4_097) }),
    ).rejects.toMatchObject(path('message'));
    await expect(
      robo.agents.runEvent({ ...runRef, kind: 'message', message: 'x'.repeat(2_001) }),
    ).rejects.toMatchObject(path('message'));
    await expect(robo.agents.runEvent({ ...runRef, kind: 'log' })).rejects.toMatchObject(path('lines'));
    await expect(
      robo.agents.runEvent({ ...runRef, kind: 'progress', lines: [{ message: 'x' }] }),
    ).rejects.toMatchObject(path('lines'));
    await expect(
      robo.agents.runEvent({ ...runRef, kind: 'log', message: 'x', data: { stream: 'stdin' } }),
    ).rejects.toMatchObject(path('data.stream'));
  });

  it('ends with the run', async () => {
    await log(['one']);
    await people.robo.agents.runEvent({ ...runRef, kind: 'completed' });
    await expect(log(['two'])).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'run_ended' } },
    });
  });

  it('answers a waiting reader at the next line, and at the end of the run', async () => {
    await log(['one']);
    const next = people.dan.agents.runs.log({ runId: 'run-1', afterLine: 1, waitSeconds: 25 });
    await log(['two']);
    expect((await next).items.map(({ message }) => message)).toEqual(['two']);
    const last = people.dan.agents.runs.log({ runId: 'run-1', afterLine: 2, waitSeconds: 25 });
    await people.robo.agents.runEvent({ ...runRef, kind: 'failed' });
    expect(await last).toMatchObject({ items: [], state: 'failed' });
  });

  it('answers a reader who waits for a much later line at the end of the run', async () => {
    await log(['one']);
    const last = people.dan.agents.runs.log({ runId: 'run-1', afterLine: 90, waitSeconds: 25 });
    await log(['two']);
    await people.robo.agents.runEvent({ ...runRef, kind: 'failed' });
    expect(await last).toMatchObject({ items: [], lastLine: 2, state: 'failed' });
  });
});

describe('agents.runs.get', () => {
  it('has the totals that the run reported', async () => {
    for (const costMicros of [70, 50])
      await people.robo.agents.runEvent({
        ...{ ...runRef, kind: 'heartbeat' },
        usage: { model: 'm', inputTokens: 9, costMicros },
      });
    const { usage } = await people.dan.agents.runs.get({ runId: 'run-1' });
    const tokens = { inputTokens: 9, outputTokens: 0, cachedTokens: 0 };
    expect(usage).toEqual([{ model: 'm', currency: 'USD', ...tokens, costMicros: 70 }]);
  });

  it('answers the run with its steps and its execution, by its id and by that of the execution', async () => {
    const { robo, dan, ben } = people;
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({ ...target, runId: 'run-1' });
    await robo.agents.runEvent({ ...runRef, kind: 'started', executionId: execution.id });
    await robo.deliveryExecutions.checkpoint({
      ...{ executionId: execution.id, leaseToken, summary: 'The form is there' },
      filesTouched: ['src/form.ts'],
    });
    await robo.deliveryExecutions.complete({
      ...{ executionId: execution.id, leaseToken, outcome: 'failed', failure: 'agent_error' },
      summary: 'The tests fail.',
    });
    const { items: later } = await ben.deliveryExecutions.list({ projectId: 'WEB' });
    expect(later).toHaveLength(1);
    const found = await dan.agents.runs.get({ runId: 'run-1' });
    expect(found.run).toMatchObject({
      ...{ runId: 'run-1', state: 'failed', agent: { name: 'Robo' } },
      story: { key: 'WEB-1', title: 'A story' },
    });
    expect(found.execution).toMatchObject({ outcome: 'failed', summary: 'The tests fail.' });
    expect(found.steps.map(({ kind }) => kind)).toEqual(['acquired', 'checkpointed', 'completed']);
    expect(found.steps[1]?.data).toMatchObject({
      summary: 'The form is there',
      filesTouched: ['src/form.ts'],
    });
    expect(await dan.agents.runs.get({ runId: execution.id, projectId: 'web' })).toEqual(found);
  });

  it('shows each run its own steps after a takeover', async () => {
    const { robo, ben, dan } = people;
    const first = await robo.deliveryExecutions.acquire({ ...target, runId: 'run-1' });
    await robo.agents.runEvent({ ...runRef, kind: 'started', executionId: first.execution.id });
    await robo.deliveryExecutions.release({ executionId: first.execution.id, leaseToken: first.leaseToken });
    await robo.agents.runEvent({ ...runRef, kind: 'canceled' });
    await ben.agents.runEvent({ ...runRef, runId: 'run-2', kind: 'started' });
    await ben.deliveryExecutions.acquire({ ...target, runId: 'run-2' });
    const stepsOf = async (runId: string) =>
      (await dan.agents.runs.get({ runId })).steps.map(({ seq, kind }) => [seq, kind]);
    expect(await stepsOf('run-1')).toEqual([
      [1, 'acquired'],
      [2, 'released'],
    ]);
    expect(await stepsOf('run-2')).toEqual([[3, 'acquired']]);
    expect((await dan.agents.runs.get({ runId: first.execution.id })).run.runId).toBe('run-2');
  });

  it('derives the run of work whose holder reported none', async () => {
    const { robo, dan } = people;
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire(target);
    const usage = { model: 'm', costMicros: 40 };
    await robo.deliveryExecutions.renew({ executionId: execution.id, leaseToken, usage });
    const found = await dan.agents.runs.get({ runId: execution.id });
    expect(found.usage).toMatchObject([usage]);
    expect(found.evidence).toEqual([]);
    const on = { targetType: 'execution', targetId: execution.id } as const;
    const attachment = await storeFile(api, robo, on, 'ok');
    expect((await dan.agents.runs.get({ runId: execution.id })).evidence).toMatchObject([
      { id: attachment.id, name: 'note.txt' },
    ]);
    expect(found.run).toMatchObject({
      ...{ runId: execution.id, state: 'running', agent: { name: 'Robo' }, endedAt: null },
      story: { key: 'WEB-1' },
    });
    expect(found.steps.map(({ kind }) => kind)).toEqual(['acquired']);
    expect(await dan.agents.runs.log({ runId: execution.id, waitSeconds: 25 })).toMatchObject({
      ...{ items: [], dropped: 0, lastLine: 0, state: 'running' },
    });
  });

  it('hides runs of projects that the caller may not see, and says of runs of one id which is meant', async () => {
    const { ana, robo, dan } = people;
    await ana.projects.create({ key: 'SEC', name: 'Secret', visibility: 'private' });
    await ana.agents.runEvent({ ...runRef, projectId: 'SEC', kind: 'log', message: 'hidden' });
    const missing = { status: 404, body: { details: { path: 'runId' } } };
    await expect(dan.agents.runs.get({ runId: 'run-1' })).rejects.toMatchObject(missing);
    await expect(dan.agents.runs.log({ runId: 'run-1' })).rejects.toMatchObject(missing);
    expect((await dan.agents.runs.list({})).items).toEqual([]);
    await robo.agents.runEvent({ ...runRef, kind: 'log', message: 'seen' });
    const messages = async (who: typeof ana, projectId?: string) =>
      (
        await who.agents.runs.log({ runId: 'run-1', ...(projectId !== undefined && { projectId }) })
      ).items.map(({ message }) => message);
    expect(await messages(dan)).toEqual(['seen']);
    expect(await messages(ana)).toEqual(['seen']);
    expect(await messages(ana, 'SEC')).toEqual(['hidden']);
  });
});

describe('agents.runs.list', () => {
  it('lists runs newest first, by project, story, agent and state, in pages', async () => {
    const { robo, ben, dan } = people;
    await robo.agents.runEvent({ ...runRef, runId: 'a', kind: 'started', storyId: 'WEB-1' });
    await ben.agents.runEvent({ ...runRef, runId: 'b', kind: 'waiting' });
    await robo.agents.runEvent({ ...runRef, runId: 'c', kind: 'failed', storyId: 'WEB-1' });
    const ids = async (filter: Parameters<typeof dan.agents.runs.list>[0]) =>
      (await dan.agents.runs.list(filter)).items.map(({ runId }) => runId);
    expect(await ids({})).toEqual(['c', 'b', 'a']);
    expect(await ids({ projectId: 'WEB', state: ['running', 'waiting'] })).toEqual(['b', 'a']);
    expect(await ids({ storyId: 'WEB-1' })).toEqual(['c', 'a']);
    expect(await ids({ storyId: 'WEB-1', state: 'failed' })).toEqual(['c']);
    expect(await ids({ agentId: robo.me.agentId ?? '' })).toEqual(['c', 'a']);
    const first = await dan.agents.runs.list({ limit: 2 });
    const second = await dan.agents.runs.list({ limit: 2, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map(({ runId }) => runId)).toEqual(['c', 'b', 'a']);
    expect(second.nextCursor).toBeNull();
  });
});
