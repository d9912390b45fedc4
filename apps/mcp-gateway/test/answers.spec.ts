// Results that fit a model's context, with the real API.
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;

const jsonBytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

async function createStories(count: number, description: string, titleEnd = '') {
  const { ana } = await world.org();
  const api = gateway.apiClient(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  for (let index = 0; index < count; index += 1)
    await api.stories.create({ projectId: 'WEB', title: `Story ${index}${titleEnd}`, description });
  return { ana, api };
}

describe('a list', () => {
  it('is cut to whole items, says so, and goes on without a gap from what it showed', async () => {
    const { ana } = await createStories(25, '', ' of many words'.repeat(20));
    const seen: string[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const { structuredContent: page } = await gateway.tool(ana.me.token, 'stories_list', {
        projectId: 'WEB',
        limit: 50,
        ...(typeof cursor === 'string' && { cursor }),
      });
      expect(jsonBytesOf(page)).toBeLessThanOrEqual(10_000);
      if (pages === 0) expect(page['cut']).toMatchObject({ parts: [{ path: 'items', length: 25 }] });
      seen.push(...(page['items'] as { title: string }[]).map(({ title }) => title));
      cursor = page['nextCursor'];
      pages += 1;
    } while (typeof cursor === 'string');
    expect(new Set(seen).size).toBe(25);
    expect(seen).toHaveLength(25);
  });

  it('has twenty items where the call does not say, and as many as it says', async () => {
    const { ana } = await createStories(22, '');
    const asked = { projectId: 'WEB', maxBytes: 200_000 };
    const first = await gateway.tool(ana.me.token, 'stories_list', asked);
    expect(first.structuredContent['items']).toHaveLength(20);
    const more = await gateway.tool(ana.me.token, 'stories_list', { ...asked, limit: 22 });
    expect(more.structuredContent['items']).toHaveLength(22);
  });
});

describe('a record', () => {
  it('loses the end of its longest text, which is named, and comes whole when asked for', async () => {
    const { ana, api } = await createStories(1, '');
    const content = 'A line of the spec.\n'.repeat(2_000);
    await api.storySpec.update({ storyId: 'WEB-1', content });
    const { structuredContent: cut } = await gateway.tool(ana.me.token, 'storySpec_get', {
      storyId: 'WEB-1',
    });
    expect(jsonBytesOf(cut)).toBeLessThanOrEqual(10_000);
    expect(cut['cut']).toMatchObject({
      parts: [{ path: 'spec.content', length: content.length }],
      how: expect.stringContaining('maxBytes'),
    });
    const cutAt = cut['cut'] as { parts: { next: string }[] };
    const shown = (cut['spec'] as { content: string }).content;
    const { structuredContent: rest } = await gateway.tool(ana.me.token, 'storySpec_get', {
      storyId: 'WEB-1',
      ...{ part: cutAt.parts[0]?.next, maxBytes: 100_000 },
    });
    expect(shown + (rest['spec'] as { content: string }).content).toBe(content);
    const whole = await gateway.tool(ana.me.token, 'storySpec_get', { storyId: 'WEB-1', maxBytes: 100_000 });
    expect(whole.structuredContent).toMatchObject({ spec: { content } });
    expect(whole.structuredContent).not.toHaveProperty('cut');
  });

  it('that was written answers short, and was written whole', async () => {
    const { ana, api } = await createStories(1, '');
    const content = 'A line of the spec.\n'.repeat(2_000);
    const written = await gateway.tool(ana.me.token, 'storySpec_update', { storyId: 'WEB-1', content });
    expect(jsonBytesOf(written.structuredContent)).toBeLessThanOrEqual(10_000);
    expect((await api.storySpec.get({ storyId: 'WEB-1' })).spec.content).toBe(content);
  });

  it('refuses a size that makes no sense', async () => {
    const { ana } = await createStories(1, '');
    for (const maxBytes of ['many', 1, 10_000_000]) {
      const { structuredContent } = await gateway.tool(ana.me.token, 'stories_get', {
        storyId: 'WEB-1',
        maxBytes,
      });
      expect(structuredContent.error?.details?.issues?.map(({ path }) => path)).toEqual(['maxBytes']);
    }
  });
});

describe('a tool of several steps cuts nothing of what it reads for itself', () => {
  it('and so puts a long checkpoint back whole, where the end is refused', async () => {
    const { robo, ana } = await world.org();
    const [api, agent] = [gateway.apiClient(ana.me.token), gateway.apiClient(robo.me.token)];
    await api.policy.update({ agentsMayComplete: false });
    await api.projects.create({ key: 'WEB', name: 'Web' });
    await api.stories.create({ projectId: 'WEB', title: 'One', status: 'ready' });
    const { execution, leaseToken } = await agent.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1' },
    });
    const held = { executionId: execution.id, leaseToken };
    const good = {
      summary: 'Half of it '.repeat(100),
      nextSteps: Array.from({ length: 50 }, (_, index) => `${index}: ${'on and on '.repeat(40)}`.trim()),
      data: { note: 'z'.repeat(5_000) },
    };
    await agent.deliveryExecutions.checkpoint({ ...held, ...good });
    const before = (await api.deliveryExecutions.get({ executionId: execution.id })).execution.checkpoint;
    const { structuredContent } = await gateway.tool(robo.me.token, 'submit_work', {
      ...{ ...held, summary: 'All', outcome: 'succeeded' },
    });
    expect(structuredContent.error?.details?.reason).toBe('policy');
    const { checkpoint } = (await api.deliveryExecutions.get({ executionId: execution.id })).execution;
    expect({ ...checkpoint, seq: 0, at: '' }).toEqual({ ...before, seq: 0, at: '' });
  });

  it('and so tells what was decided after long threads', async () => {
    const { ana, api } = await createStories(1, '');
    for (let index = 0; index < 5; index += 1)
      await api.comments.create({ storyId: 'WEB-1', body: `${index}: ${'on and on '.repeat(300)}` });
    await api.comments.create({ storyId: 'WEB-1', kind: 'decision', body: 'By passkey' });
    const { structuredContent } = await gateway.tool(ana.me.token, 'start_work', { storyId: 'WEB-1' });
    expect(structuredContent['decisions']).toEqual([{ decision: 'By passkey', by: 'Ana' }]);
    expect(JSON.stringify(structuredContent['cut'] ?? null)).not.toContain('decisions');
  });

  it('and so names decisions that are left out or shortened, and the call that has them', async () => {
    const { ana, api } = await createStories(1, '');
    const long = 'By passkey '.repeat(60).trim();
    for (let index = 0; index < 12; index += 1)
      await api.comments.create({
        ...{ storyId: 'WEB-1', kind: 'decision', body: index === 11 ? long : `Rule ${index}` },
      });
    const { structuredContent } = await gateway.tool(ana.me.token, 'start_work', { storyId: 'WEB-1' });
    expect(structuredContent['decisions']).toHaveLength(10);
    expect(structuredContent['cut']).toEqual({
      parts: expect.arrayContaining([
        { path: 'decisions', length: 12, shown: 10 },
        { path: 'decisions[9].decision', length: long.length, shown: 500 },
      ]),
      how: expect.stringMatching(/comments_list .*comments\.list.* with storyId /),
    });
  });
});
