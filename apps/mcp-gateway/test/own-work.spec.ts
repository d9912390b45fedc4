// Tests that a caller keeps its own work: the runs of callers without a runId, and locks taken later.
import { describe, expect, it } from '@jest/globals';
import { createBoard, type ToolAnswer, useGateway } from './gateway.ts';

const gateway = useGateway();

const callTool = (token: string, name: string, args: object) =>
  gateway.tool(token, name, args, { query: '?mode=core' });
const errorOf = ({ structuredContent }: ToolAnswer) => structuredContent.error;

describe('a caller without a runId', () => {
  it('gets one, and a second call at the same time learns that the work is its own', async () => {
    const { robo } = await createBoard(gateway);
    const start = (args: object) => callTool(robo.me.token, 'start_work', { storyId: 'WEB-1', ...args });
    const answers = await Promise.all([start({}), start({})]);
    const [started] = answers.filter(({ isError }) => isError !== true);
    const [refused] = answers.filter(({ isError }) => isError === true);
    if (started === undefined || refused === undefined) throw new Error(JSON.stringify(answers));
    const { id, runId } = started.structuredContent['execution'] as { id: string; runId: string };
    expect(runId).toMatch(/^run-\w/);
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'lease_held', yours: true, runId },
      hint: expect.stringContaining(`call start_work with runId ${runId}`),
    });
    expect((await start({ runId })).structuredContent).toMatchObject({ execution: { id, runId } });
  });

  it('continues its own work that was acquired without one', async () => {
    const { robo } = await createBoard(gateway);
    const { execution } = await gateway
      .apiClient(robo.me.token)
      .deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
    const again = await callTool(robo.me.token, 'start_work', { storyId: 'WEB-1', resources: ['src'] });
    expect(again.structuredContent).toMatchObject({
      execution: { id: execution.id },
      lock: expect.anything(),
    });
    expect(again.structuredContent['execution']).not.toHaveProperty('runId');
  });
});

it.each([
  ['wait_for', {}],
  ['submit_work', { summary: 'Done', branch: 'web-1' }],
])('%s says of a made-up leaseToken where the real one is', async (name, more) => {
  const { robo } = await createBoard(gateway);
  const { structuredContent } = await callTool(robo.me.token, 'start_work', { storyId: 'WEB-1' });
  const { id } = structuredContent['execution'] as { id: string };
  const refused = await callTool(robo.me.token, name, { executionId: id, leaseToken: 'abc', ...more });
  expect(errorOf(refused)).toMatchObject({
    details: { reason: 'stale_lease' },
    hint: expect.stringMatching(/^Correct leaseToken \(.*start_work/),
  });
});

describe('lock_paths', () => {
  it('locks more for the work, until it ends, or says who has it', async () => {
    const { robo, ben, api } = await createBoard(gateway);
    const start = { storyId: 'WEB-1', resources: ['src/auth'] };
    const { execution, leaseToken } = (await callTool(robo.me.token, 'start_work', start))
      .structuredContent as unknown as { execution: { id: string }; leaseToken: string };
    const held = { executionId: execution.id, leaseToken };
    const more = (resources: unknown) => callTool(robo.me.token, 'lock_paths', { ...held, resources });
    // A single path is taken as a list, and paths of the same run never conflict.
    const locked = await more('src/auth/form.ts');
    expect(locked.structuredContent).toMatchObject({ lock: { resources: ['src/auth/form.ts'] } });
    await gateway.apiClient(ben.me.token).locks.acquire({ projectId: 'WEB', resources: ['docs'] });
    const refused = await more(['src/forms', 'docs/auth.md']);
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'lock_held' },
      hint: expect.stringMatching(/^Ben holds docs\/auth\.md/),
    });
    const { items } = await api.locks.list({ projectId: 'WEB' });
    const mine = items.filter(({ executionId }) => executionId === held.executionId);
    expect(mine.map(({ resources }) => resources)).toEqual([['src/auth'], ['src/auth/form.ts']]);
    await callTool(robo.me.token, 'release_work', held);
    expect((await api.locks.list({ projectId: 'WEB' })).items).toHaveLength(1);
  });
});
