// A macro that fails between its steps: undone if possible; otherwise the error lists what was done.
import { expect, it } from '@jest/globals';
import { type Client, httpTransport, NoAnswer, type Transport } from '@muster/client';
import { type People } from '@muster/testing';
import { type ToolCall } from '../src/calls/calls.ts';
import { PartialFailure } from '../src/tools/macro.ts';
import { macros } from '../src/tools/macros.ts';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;

const previousCheckpoint = { summary: 'Half of it', nextSteps: ['The rest'] };

interface StartedWork extends People {
  readonly api: Client;
  readonly held: { readonly executionId: string; readonly leaseToken: string };
}

/**
 * Creates a story that the agent works on. If the policy forbids completion by agents, the last step is
 * refused.
 */
async function startWork({ withCheckpoint = true, agentsMayComplete = true } = {}): Promise<StartedWork> {
  const people = await world.org();
  const api = gateway.apiClient(people.ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'One', status: 'ready' });
  await api.policy.update({ agentsMayComplete });
  const robo = gateway.apiClient(people.robo.me.token);
  const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: 'WEB-1' },
  });
  const held = { executionId: execution.id, leaseToken };
  if (withCheckpoint) await robo.deliveryExecutions.checkpoint({ ...held, ...previousCheckpoint });
  return { ...people, api, held };
}

const checkpointOf = async ({ api, held: { executionId } }: StartedWork) =>
  (await api.deliveryExecutions.get({ executionId })).execution.checkpoint;

/**
 * Runs a macro through a proxy that drops the requests of the calls in `lost`. Calls are counted per
 * operation from 1.
 */
async function runOver(
  name: string,
  args: object,
  { robo }: StartedWork,
  lost: readonly string[],
): Promise<unknown> {
  const line = httpTransport({ baseUrl: gateway.apiUrl(), token: robo.me.token });
  const calls = new Map<string, number>();
  const transport: Transport = (operation, params, options) => {
    const count = (calls.get(operation.name) ?? 0) + 1;
    calls.set(operation.name, count);
    if (lost.includes(`${operation.name} ${count}`)) return Promise.reject(new NoAnswer('cut'));
    return line(operation, params, options);
  };
  const call: ToolCall = {
    transport,
    view: { project: null, allows: () => true },
    mayUse: () => true,
    intent: { key: 'spec', isOwn: false },
    putFile: () => Promise.reject(new Error('no step uploads')),
  };
  const tool = macros.find((one) => one.name === name);
  return tool?.run({ ...args }, call).catch((failure: unknown) => failure);
}

it('tells what was done before the step that was refused, where there is nothing to put back', async () => {
  const some = await startWork({ withCheckpoint: false, agentsMayComplete: false });
  const { structuredContent } = await gateway.tool(some.robo.me.token, 'submit_work', {
    ...{ ...some.held, summary: 'All', outcome: 'succeeded' },
  });
  expect(structuredContent).toEqual({
    error: expect.objectContaining({ details: expect.objectContaining({ reason: 'policy' }) }),
    step: 'deliveryExecutions.complete',
    done: { 'deliveryExecutions.checkpoint': expect.objectContaining({ execution: expect.anything() }) },
  });
  expect(await checkpointOf(some)).toMatchObject({ summary: 'All' });
});

it('puts nothing back where a step has no answer: it may have been done', async () => {
  const some = await startWork();
  const args = { ...some.held, summary: 'Take it', toMemberId: some.ben.me.memberId };
  const failure = await runOver('hand_off_work', args, some, ['deliveryExecutions.handoff 1']);
  expect(failure).toBeInstanceOf(PartialFailure);
  expect(failure).toMatchObject({
    failure: expect.any(NoAnswer),
    step: 'deliveryExecutions.handoff',
    done: { 'deliveryExecutions.checkpoint': expect.anything() },
  });
  expect(await checkpointOf(some)).toMatchObject({ summary: 'Take it' });
});

it('tells what stands where it could not be put back', async () => {
  const some = await startWork({ agentsMayComplete: false });
  const args = { ...some.held, summary: 'All', outcome: 'succeeded' };
  const failure = await runOver('submit_work', args, some, ['deliveryExecutions.checkpoint 2']);
  expect(failure).toBeInstanceOf(PartialFailure);
  expect(failure).toMatchObject({
    failure: expect.objectContaining({ reason: 'policy' }),
    done: { 'deliveryExecutions.checkpoint': expect.anything() },
  });
  expect(await checkpointOf(some)).toMatchObject({ summary: 'All' });
});

it('puts back under a key of the client’s own, too, though a step of the same name has used it', async () => {
  const some = await startWork({ agentsMayComplete: false });
  const { structuredContent } = await gateway.tool(
    some.robo.me.token,
    'submit_work',
    { ...some.held, summary: 'All', outcome: 'succeeded' },
    { meta: { 'muster/idempotencyKey': 'mine' } },
  );
  expect(Object.keys(structuredContent)).toEqual(['error']);
  expect(await checkpointOf(some)).toMatchObject(previousCheckpoint);
});

const kindsIn = (signals: unknown): unknown => (signals as { kind: string }[]).map(({ kind }) => kind);

it('tells a question’s asker what the holder is told once, whichever step heard it', async () => {
  const some = await startWork();
  await some.api.storySpec.update({ storyId: 'WEB-1', content: 'Otherwise' });
  const { structuredContent } = await gateway.tool(some.robo.me.token, 'ask_question', {
    ...{ ...some.held, question: 'Which colour?' },
  });
  expect(kindsIn(structuredContent['signals'])).toEqual(['spec_changed']);
});

it('tells it with the refusal of an end, too, since the work goes on', async () => {
  const some = await startWork({ agentsMayComplete: false });
  await some.api.storySpec.update({ storyId: 'WEB-1', content: 'Otherwise' });
  const { structuredContent } = await gateway.tool(some.robo.me.token, 'submit_work', {
    ...{ ...some.held, summary: 'All', outcome: 'succeeded' },
  });
  expect(structuredContent.error?.details?.reason).toBe('policy');
  expect(kindsIn(structuredContent['signals'])).toEqual(['spec_changed']);
});

it('tells who hands in what was not known before', async () => {
  const some = await startWork();
  await some.api.storySpec.update({ storyId: 'WEB-1', content: 'Otherwise' });
  const { structuredContent } = await gateway.tool(some.robo.me.token, 'submit_work', {
    ...{ ...some.held, summary: 'All', outcome: 'succeeded' },
  });
  expect(kindsIn(structuredContent['signals'])).toEqual(['spec_changed']);
});
