/**
 * Mistakes that agents once made, each reproduced by its request. The table in docs/decisions/mcp.md lists
 * the tests of further mistakes.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createBoard, useGateway } from './gateway.ts';

const gateway = useGateway();

describe('an agent', () => {
  it('keeps its locks as long as its lease, by whatever it does under it', async () => {
    const { robo, ben } = await createBoard(gateway);
    const { structuredContent } = await gateway.tool(robo.me.token, 'start_work', {
      ...{ storyId: 'WEB-1', resources: ['src/**'], ttlSeconds: 60 },
    });
    const { execution, leaseToken } = structuredContent as unknown as {
      execution: { id: string };
      leaseToken: string;
    };
    const held = { executionId: execution.id, leaseToken };
    const steps = [
      ['deliveryExecutions_checkpoint', { ...held, summary: 'Half' }],
      ['deliveryExecutions_renew', { ...held, ttlSeconds: 1_800 }],
      ['deliveryExecutions_update', { ...held, progress: 50 }],
    ] as const;
    for (const [name, args] of steps) {
      expect((await gateway.tool(robo.me.token, name, args)).isError).toBeUndefined();
      const api = gateway.apiClient(ben.me.token);
      const { items } = await api.locks.list({ projectId: 'WEB' });
      const { execution: now } = await api.deliveryExecutions.get({ executionId: held.executionId });
      expect(items.map(({ expiresAt }) => expiresAt)).toEqual([now.lease?.expiresAt]);
    }
  });

  it('is told by its path which id was not found', async () => {
    const { robo } = await createBoard(gateway);
    const nobody = '01936d5c-0000-7000-8000-00000000dead';
    const { structuredContent } = await gateway.tool(robo.me.token, 'stories_update', {
      ...{ storyId: 'WEB-1', epicId: nobody },
    });
    expect(structuredContent.error).toMatchObject({
      code: 'not_found',
      details: { path: 'epicId' },
      hint: 'epicId names no record that you can see. Check it with a list operation, or omit it if it is optional.',
    });
    const single = await gateway.tool(robo.me.token, 'stories_get', { storyId: 'WEB-999' });
    expect(single.structuredContent.error).toMatchObject({ details: { path: 'storyId' } });
  });

  it('hears the size of an answer that it gets where it says none', async () => {
    const { robo, api, story } = await createBoard(gateway);
    await api.storySpec.update({ storyId: story.id, content: 'A line of the spec.\n'.repeat(4_000) });
    const { body } = await gateway.rpc(robo.me.token, 'tools/list', {}, { query: '?mode=core' });
    const tools = body.result?.['tools'] as {
      name: string;
      inputSchema: { properties: Record<string, { description?: string; default?: number }> };
    }[];
    const context = tools.find(({ name }) => name === 'storyCollaboration_context');
    const { maxBytes } = context?.inputSchema.properties ?? {};
    expect(maxBytes?.default).toBeUndefined();
    expect(JSON.stringify(maxBytes)).not.toContain('262144');
    const { content } = await gateway.tool(robo.me.token, 'storyCollaboration_context', { storyId: 'WEB-1' });
    expect(Buffer.byteLength(content[0]?.text ?? '')).toBeLessThan(12_000);
  });
});

it('a spec is written over only by those who say which version they read', async () => {
  const { robo, api, story } = await createBoard(gateway);
  const write = (args: object) =>
    gateway.tool(robo.me.token, 'storySpec_update', { storyId: 'WEB-1', ...args });
  expect((await write({ content: 'First.' })).isError).toBeUndefined();
  const refused = await write({ content: 'Second.' });
  expect(refused.structuredContent.error).toMatchObject({
    details: { reason: 'version_mismatch', currentVersion: 1 },
    hint: expect.stringContaining('read it again'),
  });
  expect((await api.storySpec.get({ storyId: story.id })).spec.content).toBe('First.');
  expect((await write({ content: 'Second.', baseVersion: 1 })).isError).toBeUndefined();
  // Programs that call the API directly may omit `baseVersion`.
  expect((await api.storySpec.update({ storyId: story.id, content: 'Third.' })).spec.version).toBe(3);
});

describe('what the protocol has a code for', () => {
  const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
  it.each(lists)('%s refuses a cursor that it never gave', async (method) => {
    const { ana } = await createBoard(gateway);
    for (const era of ['rpc', 'modern'] as const) {
      const { body } = await gateway[era](ana.me.token, method, { cursor: 'made-up' });
      expect([body.error?.code, body.error?.message]).toEqual([-32602, expect.stringContaining('cursor')]);
    }
  });

  it.each([
    ['tools/call', { name: 'projects_list', arguments: [] }, /arguments must be an object/],
    ['tools/list', { cursor: 5 }, /cursor must be text/],
    ['prompts/get', { name: 'x', arguments: { name: 5 } }, /arguments\.name must be text/],
  ])('%s says in words which of %j does not fit', async (method, params, words) => {
    const { ana } = await createBoard(gateway);
    const { body } = await gateway.rpc(ana.me.token, method, params);
    expect(body.error?.code).toBe(-32602);
    expect(body.error?.message).toMatch(words);
    expect(body.error?.message).not.toMatch(/[{[]"|\n/);
  });

  it.each([
    ['tools/list', { cursor: null, _meta: null }],
    ['tools/list', { _meta: { progressToken: null } }],
    ['tools/call', { name: 'projects_list', arguments: {}, _meta: { progressToken: null, own: null } }],
    ['prompts/list', { cursor: null }],
    [
      'initialize',
      {
        protocolVersion: '2025-11-25',
        clientInfo: { name: 'c', version: '1', title: null },
        capabilities: { sampling: null, roots: { listChanged: null } },
      },
    ],
  ])('%s takes null for what is left out: %j', async (method, params) => {
    const { ana } = await createBoard(gateway);
    const { body } = await gateway.rpc(ana.me.token, method, params);
    expect(body.error).toBeUndefined();
    expect(body.result).not.toMatchObject({ isError: true });
  });

  it.each([
    ['list_stories', 'stories_list'],
    ['create_issue', 'stories_create'],
    ['update_story', 'stories_update'],
    ['checkpoint', 'deliveryExecutions_checkpoint'],
    ['stories_gett', 'stories_get'],
  ])('names for the unknown tool %s what may be meant, %s, and how to search', async (name, meant) => {
    const { ana } = await createBoard(gateway);
    const { body } = await gateway.rpc(ana.me.token, 'tools/call', { name });
    expect(body.error?.data?.['didYouMean']).toContain(meant);
    expect(body.error?.message).toMatch(/search_operations/);
  });

  it('takes arguments: null for none', async () => {
    const { ana } = await createBoard(gateway);
    const { body } = await gateway.rpc(ana.me.token, 'tools/call', {
      name: 'projects_list',
      arguments: null,
    });
    expect(body.result).toMatchObject({ structuredContent: { items: [{ key: 'WEB' }] } });
  });

  it('none of the codes that are kept for others: a method of HTTP or a version is an invalid request', async () => {
    const { ana } = await createBoard(gateway);
    const got = await gateway.send({
      method: 'GET',
      headers: { authorization: `Bearer ${ana.me.token}` },
    });
    expect([got.status, got.body.error?.code]).toEqual([405, -32600]);
    const headers = { 'mcp-protocol-version': '1999-01-01' };
    const old = await gateway.rpc(ana.me.token, 'ping', {}, { headers });
    expect([old.status, old.body.error?.code]).toEqual([400, -32600]);
  });
});

it('is written down for each of the 27 with the spec that holds it', () => {
  const root = path.resolve(import.meta.dirname, '../../..');
  const rows = readFileSync(path.join(root, 'docs/decisions/mcp.md'), 'utf8').match(/^\| D\d+ .*$/gm) ?? [];
  expect(rows.map((row) => /D\d+/.exec(row)?.[0])).toEqual(
    Array.from({ length: 27 }, (_, at) => `D${at + 1}`),
  );
  for (const row of rows) {
    const named = [...(row.split('|').at(-2) ?? '').matchAll(/`([\w/.-]+\.spec)`(?: of ([\w/-]+))?/g)];
    expect([row, named.length > 0]).toEqual([row, true]);
    for (const [, file = '', place = 'apps/mcp-gateway'] of named) {
      const places = [place, `${place}/src`].map((one) => path.join(root, one, `${file}.ts`));
      expect([file, places.some((one) => existsSync(one))]).toEqual([file, true]);
    }
  }
});

describe('a tool that does not exist, in the core,', () => {
  it.each([
    ['claim_task', 'start_work'],
    ['create_issue', 'call_write_operation with stories.create'],
    ['update_story', 'call_write_operation with stories.update'],
    ['list_stories', 'stories_list'],
    ['checkpoint', 'deliveryExecutions_checkpoint'],
  ])('%s leads to %s', async (name, meant) => {
    const { robo } = await createBoard(gateway);
    const { body } = await gateway.rpc(
      ...([robo.me.token, 'tools/call', { name, arguments: {} }, { query: '?mode=core' }] as const),
    );
    expect(body.error?.data?.['didYouMean']).toContain(meant);
  });

  it('and an operation for people alone is said to be that', async () => {
    const { robo } = await createBoard(gateway);
    const { structuredContent } = await gateway.tool(
      ...([
        robo.me.token,
        'call_read_operation',
        { operation: 'agents.list' },
        { query: '?mode=core' },
      ] as const),
    );
    expect(structuredContent.error?.message).toContain('agents.list is for people');
  });

  it('may be one whose parameters are all described, in at most twelve words', async () => {
    const { robo } = await createBoard(gateway);
    const { body } = await gateway.rpc(robo.me.token, 'tools/list', {}, { query: '?mode=core' });
    const tools = body.result?.['tools'] as {
      name: string;
      inputSchema: { properties: Record<string, { description?: string }> };
    }[];
    for (const { name, inputSchema } of tools)
      for (const [param, { description = '' }] of Object.entries(inputSchema.properties)) {
        const words = description.split(/\s+/).filter(Boolean).length;
        expect([name, param, words >= 1 && words <= 12]).toEqual([name, param, true]);
      }
  });
});
