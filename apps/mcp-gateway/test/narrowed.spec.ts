// Restrictions over HTTP: a hidden tool cannot be called, under any name or through other tools.
import { describe, expect, it } from '@jest/globals';
import { type Person } from '@muster/testing';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;

async function createTestBoard(): Promise<Person> {
  const { ana } = await world.org();
  const api = gateway.apiClient(ana.me.token);
  for (const key of ['WEB', 'DOCS']) await api.projects.create({ key, name: key });
  return ana;
}

const listToolNames = async (token: string, query: string): Promise<string[]> => {
  const { body } = await gateway.rpc(token, 'tools/list', {}, { query });
  return (body.result?.['tools'] as { name: string }[]).map(({ name }) => name);
};

describe('a path', () => {
  it.each([
    ['/core', '?mode=core'],
    ['/readonly', '?readonly=1'],
    ['/core/readonly', '?mode=core&readonly=1'],
  ])('%s narrows as the query %s does', async (path, query) => {
    const { ana } = await gateway.world.org();
    const { token } = ana.me;
    expect(await listToolNames(token, path)).toEqual(await listToolNames(token, query));
    expect(await listToolNames(token, `${path}/`)).toEqual(await listToolNames(token, path));
    expect(await listToolNames(token, path)).not.toEqual(await listToolNames(token, '?mode=full'));
    const write = { operation: 'projects.create', params: { key: 'WEB', name: 'Web' } };
    if (!path.endsWith('/readonly')) return;
    const answer = await gateway.rpc(
      token,
      'tools/call',
      { name: 'call_write_operation', arguments: write },
      { query: path },
    );
    expect(answer.body.result).toBeUndefined();
  });

  it('says what it narrows, and the query must not say it too; others are not there', async () => {
    const { ana } = await gateway.world.org();
    const list = (query: string) => gateway.rpc(ana.me.token, 'tools/list', {}, { query });
    const refused = await gateway.rpc(
      ana.me.token,
      'tools/list',
      {},
      { query: '/core?mode=full', id: 'one' },
    );
    expect([refused.status, refused.body.id]).toEqual([400, 'one']);
    expect((await list('/core?mod=full')).status).toBe(400);
    expect((await list('/core?project=WEB')).status).toBe(200);
    expect((await list('?mode=core?readonly=1')).status).toBe(400);
    expect((await list('/core?project=WEB?readonly=1')).status).toBe(400);
    expect((await list('/cores')).status).toBe(404);
    expect(await listToolNames(ana.me.token, '/%72eadonly')).toEqual(
      await listToolNames(ana.me.token, '/readonly'),
    );
  });
});

describe('the plain address', () => {
  it('lists core, finds the rest, and takes calls of it by its own name', async () => {
    const ana = await createTestBoard();
    const { token } = ana.me;
    expect(await listToolNames(token, '')).toEqual(await listToolNames(token, '?mode=core'));
    expect(await listToolNames(token, '')).not.toContain('epics_create');
    const found = await gateway.tool(token, 'search_operations', { query: 'create an epic' });
    expect(JSON.stringify(found.structuredContent)).toContain('epics.create');
    const epic = { projectId: 'WEB', title: 'Launch' };
    for (const name of ['epics_create', 'epics.create']) {
      const { isError } = await gateway.tool(token, name, epic);
      expect([name, isError]).toEqual([name, undefined]);
      const strict = { query: '?mode=core' };
      const refused = await gateway.rpc(token, 'tools/call', { name, arguments: epic }, strict);
      expect(refused.body.error?.message).toContain('call_write_operation');
    }
  });
});

describe('read-only', () => {
  const writes = [
    ['stories_create', { projectId: 'WEB', title: 'No' }],
    ['stories.create', { projectId: 'WEB', title: 'No' }],
    ['start_work', { storyId: 'WEB-1' }],
    ['call_write_operation', { operation: 'stories.create', params: { projectId: 'WEB', title: 'No' } }],
    ['call_read_operation', { operation: 'stories.create', params: { projectId: 'WEB', title: 'No' } }],
  ] as const;

  it.each(['?readonly=1', '?readonly=1&mode=core', '?readonly=true&mode=search'])(
    'refuses every way to write with %s',
    async (query) => {
      const ana = await createTestBoard();
      for (const [name, args] of writes) {
        const { body } = await gateway.rpc(ana.me.token, 'tools/call', { name, arguments: args }, { query });
        expect([name, body.error !== undefined || body.result?.['isError']]).toEqual([name, true]);
      }
      const { items } = await gateway.apiClient(ana.me.token).stories.list({ projectId: 'WEB' });
      expect(items).toEqual([]);
    },
  );

  it('still reads', async () => {
    const ana = await createTestBoard();
    const answer = await gateway.tool(ana.me.token, 'projects_list', {}, { query: '?readonly=1' });
    expect(answer.structuredContent['items']).toHaveLength(2);
  });
});

describe('a choice of tools', () => {
  it('holds for calls, also through the meta tools', async () => {
    const ana = await createTestBoard();
    const query = '?toolsets=epics';
    const direct = await gateway.rpc(
      ana.me.token,
      'tools/call',
      { name: 'projects_list', arguments: {} },
      { query },
    );
    expect([direct.body.error?.code, direct.body.error?.message]).toEqual([
      -32602,
      expect.stringContaining('restrict'),
    ]);
    const around = await gateway.tool(
      ana.me.token,
      'call_read_operation',
      { operation: 'projects.list', params: {} },
      { query: `${query}&mode=search` },
    );
    expect(around.structuredContent.error).toMatchObject({ status: 403, details: { reason: 'narrowed' } });
    const found = await gateway.tool(
      ana.me.token,
      'search_operations',
      { query: 'list projects' },
      { query: `${query}&mode=search` },
    );
    expect(JSON.stringify(found.structuredContent)).not.toContain('projects.list');
  });

  it('that names nothing there is answers 400 with what there is', async () => {
    const ana = await createTestBoard();
    const { status, text } = await gateway.rpc(ana.me.token, 'tools/list', {}, { query: '?toolsets=story' });
    expect([status, text.includes('stories')]).toEqual([400, true]);
  });
});

describe('one project', () => {
  it('is filled in, and no other can be named', async () => {
    const ana = await createTestBoard();
    const query = '?project=WEB';
    const made = await gateway.tool(ana.me.token, 'stories_create', { title: 'One' }, { query });
    expect(made.structuredContent).toMatchObject({ story: { key: 'WEB-1' } });
    const other = await gateway.tool(
      ana.me.token,
      'stories_create',
      { projectId: 'DOCS', title: 'Two' },
      { query },
    );
    expect(other.structuredContent.error).toMatchObject({
      ...{ status: 403, details: { reason: 'narrowed' } },
      // The hint does not suggest a higher role, because a higher role would not help.
      hint: expect.stringContaining('restrict'),
    });
  });

  it('may be named all the same, in either case', async () => {
    const ana = await createTestBoard();
    for (const [query, projectId] of [
      ['?project=WEB', 'web'],
      ['?project=web', 'WEB'],
    ] as const) {
      const made = await gateway.tool(ana.me.token, 'stories_create', { projectId, title: 'One' }, { query });
      expect(made.structuredContent).toMatchObject({ story: { key: expect.stringMatching(/^WEB-\d$/) } });
    }
  });

  it('is the one that locks of begun work are in', async () => {
    const ana = await createTestBoard();
    const api = gateway.apiClient(ana.me.token);
    for (const projectId of ['WEB', 'DOCS']) await api.stories.create({ projectId, title: 'One' });
    const [begun, elsewhere] = await Promise.all(
      ['WEB-1', 'DOCS-1'].map((storyId) =>
        gateway.tool(
          ana.me.token,
          'start_work',
          { storyId, resources: ['src/**'] },
          { query: '?project=WEB' },
        ),
      ),
    );
    expect(begun?.structuredContent).toMatchObject({
      lock: { resources: ['src/**'] },
      context: { story: { key: 'WEB-1' } },
    });
    expect(elsewhere?.structuredContent).toEqual({
      error: expect.objectContaining({
        details: expect.objectContaining({ reason: 'mismatched_project' }),
      }),
    });
    const { execution } = await api.deliveryExecutions.getForTarget({
      targetType: 'story',
      targetId: 'DOCS-1',
    });
    expect(execution).toBeNull();
  });

  it('is not asked for where an operation is described', async () => {
    const ana = await createTestBoard();
    const described = async (query: string): Promise<unknown> => {
      const args = { operation: 'stories.create' };
      return (await gateway.tool(ana.me.token, 'describe_operation', args, { query })).structuredContent;
    };
    expect(JSON.stringify(await described('?mode=core'))).toContain('projectId');
    expect(JSON.stringify(await described('?mode=core&project=WEB'))).not.toContain('projectId');
  });
});

describe('resources, prompts and completion', () => {
  const only = { query: '?toolsets=epics' };

  it('reach no more than the tools of the connection', async () => {
    const ana = await createTestBoard();
    const { token } = ana.me;
    const api = gateway.apiClient(token);
    await api.stories.create({ projectId: 'WEB', title: 'One' });
    await api.prompts.org.upsert({ slug: 'review', title: 'Review', body: 'Read.' });
    const read = (options: object) =>
      gateway.rpc(token, 'resources/read', { uri: 'muster://stories/WEB-1' }, options);
    const uris = async (options: object) => {
      const { body } = await gateway.rpc(token, 'resources/templates/list', {}, options);
      return (body.result?.['resourceTemplates'] as { uriTemplate: string }[]).map((one) => one.uriTemplate);
    };
    const prompts = async (options: object) =>
      (await gateway.rpc(token, 'prompts/list', {}, options)).body.result?.['prompts'];
    const complete = async (name: string, value: string, options: object) => {
      const params = {
        ref: { type: 'ref/resource', uri: 'muster://stories/{storyId}' },
        argument: { name, value },
      };
      const { body } = await gateway.rpc(token, 'completion/complete', params, options);
      return (body.result?.['completion'] as { values: string[] }).values;
    };
    expect((await read({})).body.result).toBeDefined();
    expect((await read(only)).body.error?.data?.['error']).toMatchObject({ details: { reason: 'narrowed' } });
    expect((await read({ query: '?exclude=stories_get' })).body.result).toBeUndefined();
    expect(await uris({})).toHaveLength(3);
    expect(await uris({ query: '?toolsets=stories' })).toEqual(['muster://stories/{storyId}']);
    expect([await prompts({}), await prompts(only)]).toEqual([
      [expect.objectContaining({ name: 'org.review' }), expect.objectContaining({ name: 'plan' })],
      [],
    ]);
    expect(await prompts({ query: '?toolsets=epics,prompts' })).toHaveLength(1);
    expect([await complete('storyId', 'WEB-', {}), await complete('storyId', 'WEB-', only)]).toEqual([
      ['WEB-1'],
      [],
    ]);
    expect([...(await complete('projectId', '', {}))].sort()).toEqual(['DOCS', 'WEB']);
    expect(await complete('projectId', '', { query: '?project=WEB' })).toEqual(['WEB']);
    expect(await complete('storyId', 'WEB-', { query: '?project=DOCS' })).toEqual([]);
  });
});

describe('rights', () => {
  it('show what the token may call, in one order', async () => {
    const { ana, dan, orgId } = await world.org();
    const operator = await world.token(orgId, ana.me.memberId, { scopes: ['platform'] });
    const reader = await world.token(orgId, ana.me.memberId, { scopes: ['read'] });
    const [all, viewers, readers, operators] = await Promise.all(
      [ana, dan, reader, operator].map(({ me }) => listToolNames(me.token, '?mode=full')),
    );
    expect(all).toContain('orgs_delete');
    expect(all).not.toContain('admin_platform_metrics');
    expect(viewers).not.toContain('orgs_delete');
    expect(readers?.some((name) => /_(create|update|delete)/.test(name))).toBe(false);
    expect(readers).not.toContain('start_work');
    expect(operators?.every((name) => name.startsWith('admin_platform_'))).toBe(true);
    expect(viewers).toEqual(all?.filter((name) => viewers?.includes(name)));
  });

  it('are decided by the API when an operation is called that is not shown', async () => {
    const { dan } = await world.org();
    const { structuredContent } = await gateway.tool(dan.me.token, 'orgs_update', { name: 'Mine' });
    expect(structuredContent.error).toMatchObject({ code: 'forbidden', status: 403 });
  });
});
