import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Client, createClient, httpTransport } from '@muster/client';
import { type AppProcess, startApp, waitUntil, useWorld } from '@muster/testing';
import { findFreePort } from '@muster/testing/ports';
import { question, workNowAndThen } from './demo-agent.ts';

const world = useWorld({});
const folder = await mkdtemp(path.join(tmpdir(), 'muster-demo-'));
const port = await findFreePort();
let api: AppProcess;
beforeAll(async () => {
  api = await startApp('apps/coordination-api/src/main.ts', {
    ...{ DATABASE_URL: world.database.url, FILES_FOLDER: folder, PORT: `${port}` },
    BASE_URL: `http://127.0.0.1:${port}`,
  });
});
afterAll(() => api.stop());

/** Creates a project with a story. Returns the clients of its owner and of the agent. */
async function board(): Promise<{ readonly ana: Client; readonly robo: Client }> {
  const people = await world.org();
  const as = (token: string): Client => createClient(httpTransport({ baseUrl: api.url, token }));
  const ana = as(people.ana.me.token);
  await ana.projects.create({ key: 'WEB', name: 'Web shop' });
  await ana.stories.create({ projectId: 'WEB', title: 'Alpha', status: 'in_progress' });
  return { ana, robo: as(people.robo.me.token) };
}
const workOn = async (ana: Client, storyId: string) =>
  (await ana.deliveryExecutions.getForTarget({ targetType: 'story', targetId: storyId })).execution;

/** Runs the agent until the work of the spec is done, then ends it. */
async function whileItWorks(robo: Client, stepMillis: number, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const over = workNowAndThen(robo, { projectKey: 'WEB', signal, stepMillis, restMillis: 10 });
  try {
    await work();
  } finally {
    ending.abort();
    await over;
  }
}

it('takes a story, writes how far it is, asks, hears the answer, and leaves nothing held', async () => {
  const { ana, robo } = await board();
  await whileItWorks(robo, 300, async () => {
    await waitUntil(async () => (await workOn(ana, 'WEB-1'))?.state === 'waiting_input');
    const { items } = await ana.comments.list({ storyId: 'WEB-1' });
    expect(items.map(({ body }) => body)).toEqual([question]);
    const [asked] = items;
    await ana.comments.create({ storyId: 'WEB-1', parentId: asked?.id ?? '', body: 'No.' });
    await ana.comments.resolve({ commentId: asked?.id ?? '', resolved: true });
    await waitUntil(async () => ((await workOn(ana, 'WEB-1'))?.checkpoint?.seq ?? 0) >= 2);
  });
  expect(await workOn(ana, 'WEB-1')).toMatchObject({ state: 'available', lease: null });
  const { items } = await ana.usage.summary({ groupBy: 'model' });
  expect(items).toMatchObject([{ key: { name: 'claude-sonnet-4-5' }, inputTokens: expect.any(Number) }]);
});

it('lets go of what it is asked to stop, and goes on with another story', async () => {
  const { ana, robo } = await board();
  await whileItWorks(robo, 2_000, async () => {
    await waitUntil(async () => (await workOn(ana, 'WEB-1'))?.state === 'leased');
    const executionId = (await workOn(ana, 'WEB-1'))?.id ?? '';
    await ana.deliveryExecutions.update({ executionId, requestStop: true });
    await waitUntil(async () => (await workOn(ana, 'WEB-1'))?.lease === null);
    await ana.stories.create({ projectId: 'WEB', title: 'Beta', status: 'in_progress' });
    await waitUntil(async () => (await workOn(ana, 'WEB-2'))?.lease != null);
  });
  const stopped = await workOn(ana, 'WEB-1');
  expect(stopped).toMatchObject({ attempt: 1, lease: null });
  // The agent stopped before the step at which it would have asked its question.
  expect(stopped?.progress).toBeLessThan(40);
});

it('works on a story that is assigned to it, with a log, a test report, a screenshot and the cost', async () => {
  const { ana, robo } = await board();
  const { member, agent } = await robo.session.identity();
  const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Beta', status: 'ready' });
  const target = { targetType: 'story', targetId: story.id } as const;
  await ana.assignments.set({ ...target, memberId: member.id, agentId: agent?.id ?? '' });
  const newest = async () => (await ana.agents.runs.list({ storyId: story.id })).items[0]?.runId ?? '';
  const read = async () => ana.agents.runs.get({ runId: await newest() }).catch(() => undefined);
  await whileItWorks(robo, 10, () => waitUntil(async () => (await read())?.evidence.length === 2));
  expect(await read()).toMatchObject({ usage: [{ model: 'claude-sonnet-4-5' }] });
  const { items } = await ana.agents.runs.log({ runId: await newest() });
  expect(items[0]?.message).toBe('planning: step 1 of 8');
});
