/** Tests how a story shows the response of the agent that was asked to work on it (CONTRACT §9.2). */
import { beforeEach, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person, waitUntil } from '@muster/testing';
import { useApi } from './api.ts';
import { expireLeases, createOrgWithStory, target } from './one-story.ts';

const api = useApi();
const storyId = 'WEB-1';
let people: People<AllHandlers>;
let scout: Person<AllHandlers>;
beforeEach(async () => {
  people = await createOrgWithStory(api);
  scout = await api.world.token(people.orgId, people.chloe.me.memberId, { agent: 'Scout' });
});

const responseOfStory = async () => (await people.dan.stories.get({ storyId })).agentResponse;

/** Returns the response of the story, which its card shows too. */
async function fetchResponse() {
  const agentResponse = await responseOfStory();
  const { items } = await people.dan.stories.list({ projectId: 'WEB', view: 'card' });
  expect(items.find(({ key }) => key === storyId)).toMatchObject({ agentResponse });
  return agentResponse === null ? null : `${agentResponse.agent.name}: ${agentResponse.state}`;
}

/** Waits for the agent's inbox like a runner. Returns the function that disconnects. */
function listen(): () => void {
  const leaving = new AbortController();
  fetch(`${api.url()}/api/agents/inbox`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scout.me.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ after: 1_000, waitSeconds: 25 }),
    signal: leaving.signal,
  }).catch(() => undefined);
  return () => leaving.abort();
}
const waitForState = (state: string) => waitUntil(async () => (await responseOfStory())?.state === state);

it('an assigned agent has no runner, listens, is busy, and picks the story up', async () => {
  await people.ana.stories.create({ projectId: 'WEB', title: 'Another', status: 'ready' });
  expect(await fetchResponse()).toBeNull();
  await people.ana.assignments.set({ ...target, agentId: scout.me.agentId ?? '' });
  expect(await fetchResponse()).toBe('Scout: no_runner');
  const leave = listen();
  await waitForState('listening');
  const other = { targetType: 'story', targetId: 'WEB-2' } as const;
  const { execution, leaseToken } = await scout.deliveryExecutions.acquire(other);
  expect(await fetchResponse()).toBe('Scout: busy');
  await scout.deliveryExecutions.release({ executionId: execution.id, leaseToken });
  await scout.deliveryExecutions.acquire({ ...target, start: true });
  expect(await fetchResponse()).toBe('Scout: picked_up');
  await expireLeases(api, people.orgId);
  await people.ben.deliveryExecutions.acquire(target);
  expect(await fetchResponse()).toBeNull();
  leave();
  await people.ana.stories.updateStatus({ storyId, status: 'canceled' });
  expect(await fetchResponse()).toBeNull();
});

it('an agent whose runner disconnects has no runner', async () => {
  await people.ana.assignments.set({ ...target, agentId: scout.me.agentId ?? '' });
  const leave = listen();
  await waitForState('listening');
  leave();
  await waitForState('no_runner');
});

it('an agent that a contributor mentions responds until work on the story has ended', async () => {
  const body = '@scout please';
  await people.robo.comments.create({ storyId, body });
  await people.dan.comments.create({ storyId, body });
  expect(await fetchResponse()).toBeNull();
  await people.ana.comments.create({ storyId, body });
  expect(await fetchResponse()).toBe('Scout: no_runner');
  const { execution, leaseToken } = await scout.deliveryExecutions.acquire({ ...target, start: true });
  expect(await fetchResponse()).toBe('Scout: picked_up');
  await scout.deliveryExecutions.complete({ executionId: execution.id, leaseToken, outcome: 'failed' });
  expect(await fetchResponse()).toBeNull();
});
