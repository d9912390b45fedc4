import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { httpTransport, type Transport } from '@muster/client';
import { type People } from '@muster/testing';
import { readResource } from '../src/protocol/resources.ts';
import { type McpSession } from '../src/protocol/session.ts';
import { useGateway } from './gateway.ts';

const gateway = useGateway();

async function createPromptLibrary(): Promise<People> {
  const people = await gateway.world.org();
  const api = gateway.apiClient(people.ana.me.token);
  for (const key of ['WEB', 'DOCS']) await api.projects.create({ key, name: key });
  await api.prompts.org.upsert({
    slug: 'review',
    title: 'Review a story',
    body: 'Read {{storyKey}}. {{ note }} {{unknown}}',
    arguments: [
      { name: 'storyKey', description: 'Such as WEB-42', required: true },
      { name: 'note', description: '', required: false },
    ],
  });
  await api.prompts.project.upsert({ projectId: 'WEB', slug: 'start', title: 'Start', body: 'Start in WEB' });
  await api.prompts.project.upsert({
    projectId: 'DOCS',
    slug: 'start',
    title: 'Start',
    body: 'Start in DOCS',
  });
  await api.stories.create({ projectId: 'WEB', title: 'Sign in', spec: '# Sign in' });
  return people;
}

const textOf = (body: { readonly result?: Record<string, unknown> }): unknown =>
  (body.result?.['messages'] as { content: { text: string } }[])[0]?.content.text;

describe('prompts', () => {
  it('are those of the organization and of its projects, with their arguments', async () => {
    const { ana } = await createPromptLibrary();
    const { body } = await gateway.rpc(ana.me.token, 'prompts/list');
    expect(body.result?.['prompts']).toEqual([
      {
        name: 'org.review',
        title: 'Review a story',
        description: 'Review a story',
        arguments: [
          { name: 'storyKey', description: 'Such as WEB-42', required: true },
          { name: 'note', required: false },
        ],
      },
      {
        name: 'project.start',
        title: 'Start',
        description: 'Start',
        arguments: [{ name: 'projectId', description: expect.stringContaining('DOCS'), required: true }],
      },
      {
        ...{ name: 'plan', title: 'Plan work as stories', description: 'Plan work as stories' },
        arguments: ['goal', 'projectId'].map((name) => ({
          ...{ name, description: expect.any(String), required: true },
        })),
      },
    ]);
    const narrowed = await gateway.rpc(ana.me.token, 'prompts/list', {}, { query: '?project=WEB' });
    expect(narrowed.body.result?.['prompts']).toContainEqual({
      name: 'project.start',
      title: 'Start',
      description: 'Start',
      arguments: [],
    });
  });

  it('have one that asks for a plan, if the connection may apply plans', async () => {
    const { ana } = await createPromptLibrary();
    const params = { name: 'plan', arguments: { goal: 'Sign in with a passkey', projectId: 'WEB' } };
    const get = async (asked: object, query = '') =>
      (await gateway.rpc(ana.me.token, 'prompts/get', asked, { query })).body;
    expect(textOf(await get(params))).toMatch(
      /stories of the project WEB.*Sign in with a passkey.*plans_apply/s,
    );
    const narrowed = { name: 'plan', arguments: { goal: 'Sign in' } };
    expect(textOf(await get(narrowed, '?project=DOCS'))).toContain('the project DOCS');
    expect((await get(narrowed)).error?.message).toContain('The prompt needs projectId.');
    expect((await get(params, '?readonly=1')).error?.message).toContain('There is no prompt "plan"');
  });

  it('are rendered with what was given, and nothing is left of what was not', async () => {
    const { ana } = await createPromptLibrary();
    const { body } = await gateway.rpc(ana.me.token, 'prompts/get', {
      name: 'org.review',
      arguments: { storyKey: 'WEB-1' },
    });
    expect(textOf(body)).toBe('Read WEB-1.  {{unknown}}');
  });

  it('of a project are found by the project, named or of the connection', async () => {
    const { ana } = await createPromptLibrary();
    const named = await gateway.modern(ana.me.token, 'prompts/get', {
      name: 'project.start',
      arguments: { projectId: 'DOCS' },
    });
    expect(textOf(named.body)).toBe('Start in DOCS');
    const narrowed = await gateway.rpc(
      ana.me.token,
      'prompts/get',
      { name: 'project.start' },
      { query: '?project=WEB' },
    );
    expect(textOf(narrowed.body)).toBe('Start in WEB');
  });

  it('of a project are found also where there are more projects than are looked at', async () => {
    const { ana } = await gateway.world.org();
    const api = gateway.apiClient(ana.me.token);
    for (let number = 10; number < 32; number += 1)
      await api.projects.create({ key: `P${number}`, name: `Project ${number}` });
    await api.prompts.project.upsert({
      projectId: 'P31',
      slug: 'start',
      title: 'Start',
      body: 'The last one',
    });
    const { body } = await gateway.rpc(ana.me.token, 'prompts/get', {
      name: 'project.start',
      arguments: { projectId: 'P31' },
    });
    expect(textOf(body)).toBe('The last one');
    const completed = await gateway.rpc(ana.me.token, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'project.start' },
      argument: { name: 'projectId', value: 'p3' },
    });
    expect(completed.body.result?.['completion']).toMatchObject({ values: ['P31'] });
  });

  it.each([
    [{ name: 'org.review' }, 'storyKey'],
    [{ name: 'org.reveiw' }, 'org.review'],
    [{ name: 'project.start' }, 'DOCS'],
    [{ name: 'nonsense' }, 'no prompt'],
  ])('%j is refused in words that help', async (params, words) => {
    const { ana } = await createPromptLibrary();
    const { body } = await gateway.rpc(ana.me.token, 'prompts/get', params);
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining(words) });
  });
});

describe('completion', () => {
  const values = async (
    token: string,
    ref: object,
    name: string,
    value: string,
    query = '',
  ): Promise<unknown> => {
    const params = { ref, argument: { name, value } };
    const { body } = await gateway.rpc(token, 'completion/complete', params, { query });
    return (body.result?.['completion'] as { values: unknown }).values;
  };
  const review = { type: 'ref/prompt', name: 'org.review' };

  it('finds projects, stories and people by what arguments are called', async () => {
    const { ana } = await createPromptLibrary();
    const { token } = ana.me;
    expect(await values(token, { type: 'ref/prompt', name: 'project.start' }, 'projectId', 'w')).toEqual([
      'WEB',
    ]);
    expect(await values(token, review, 'storyKey', 'WEB-')).toEqual(['WEB-1']);
    expect(await values(token, review, 'storyKey', 'sign', '?project=WEB')).toEqual(['WEB-1']);
    expect(await values(token, review, 'storyKey', '')).toEqual(expect.arrayContaining(['WEB-', 'DOCS-']));
    expect(await values(token, review, 'reviewer', 'be')).toEqual(['ben']);
    expect(
      await values(token, { type: 'ref/resource', uri: 'muster://stories/{storyId}' }, 'storyId', 'WEB-'),
    ).toEqual(['WEB-1']);
  });

  it('has nothing for what it does not know', async () => {
    const { ana } = await createPromptLibrary();
    expect(await values(ana.me.token, review, 'note', 'x')).toEqual([]);
  });

  it.each(['NOPE-', 'NOPE-1', 'x'.repeat(300)])(
    'has nothing for what names nothing yet: %j',
    async (value) => {
      const { ana } = await createPromptLibrary();
      expect(await values(ana.me.token, review, 'storyKey', value, '?project=WEB')).toEqual([]);
      expect(await values(ana.me.token, review, 'storyKey', value)).toEqual([]);
    },
  );

  it('finds the story that is typed, however many were changed since, and says where there are more', async () => {
    const { ana } = await createPromptLibrary();
    const api = gateway.apiClient(ana.me.token);
    const titles = Array.from({ length: 110 }, (_, index) => `Story ${index}`);
    await api.projects.convertLocal({
      ...{ localProjectId: 'many', key: 'MANY', name: 'Many' },
      stories: titles.map((title) => ({ localId: title, title, status: 'backlog' })),
    });
    const completed = async (value: string) => {
      const params = { ref: review, argument: { name: 'storyKey', value } };
      return (await gateway.rpc(ana.me.token, 'completion/complete', params)).body.result?.['completion'];
    };
    const all = (await completed('MANY-')) as { values: string[] };
    expect([all.values.length, all]).toEqual([100, { values: all.values, hasMore: true }]);
    for (const key of ['MANY-1', 'MANY-55', 'many-110'])
      expect(await completed(key)).toMatchObject({
        ...{ values: expect.arrayContaining([key.toUpperCase()]), hasMore: false },
      });
  });
});

describe('resources', () => {
  const read = async (token: string, uri: string) =>
    (await gateway.rpc(token, 'resources/read', { uri })).body;

  it('are a story, its whole spec as Markdown, and the events of an execution', async () => {
    const { ana } = await createPromptLibrary();
    const api = gateway.apiClient(ana.me.token);
    const story = await read(ana.me.token, 'muster://stories/WEB-1');
    expect(story.result).toMatchObject({
      contents: [{ mimeType: 'application/json', text: expect.stringContaining('"title":"Sign in"') }],
    });
    const content = '# Sign in\n'.repeat(5_000);
    await api.storySpec.update({ storyId: 'WEB-1', content });
    const spec = await read(ana.me.token, 'muster://stories/WEB-1/spec');
    expect(spec.result).toMatchObject({
      contents: [{ uri: 'muster://stories/WEB-1/spec', mimeType: 'text/markdown', text: content }],
    });
    const { execution } = await api.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
    const events = await read(ana.me.token, `muster://executions/${execution.id}/events`);
    expect(events.result).toMatchObject({ contents: [{ text: expect.stringContaining('"lastSeq":1') }] });
  });

  it('are the newest items of the caller alone in the inbox', async () => {
    const { ana, robo } = await createPromptLibrary();
    const inboxOf = async (token: string) => {
      const { contents } = (await read(token, 'muster://inbox')).result as { contents: [{ text: string }] };
      return JSON.parse(contents[0].text) as { items: { seq: number; kind: string }[]; cursor: number };
    };
    expect(await inboxOf(robo.me.token)).toEqual({ items: [], cursor: 0 });
    const { comments } = gateway.apiClient(robo.me.token);
    for (let count = 0; count < 51; count += 1)
      await comments.create({ storyId: 'WEB-1', body: '@ana look' });
    const { items, cursor } = await inboxOf(ana.me.token);
    expect([items.length, items[0], items.at(-1), cursor]).toMatchObject([
      50,
      { seq: 2, kind: 'mention' },
      { seq: 51 },
      51,
    ]);
    expect((await inboxOf(robo.me.token)).items).toEqual([]);
    // A long inbox is not read from its beginning.
    await gateway.world.rows(
      `insert into inbox_items select (jsonb_populate_record(i, jsonb_build_object('seq', i.seq + 51 * n))).*
       from inbox_items i, generate_series(1, 9) n where i.recipient_id = $1`,
      ana.me.memberId,
    );
    await gateway.world.rows(
      `update inbox_streams set last_seq = 510 where recipient_id = $1`,
      ana.me.memberId,
    );
    let calls = 0;
    const line = httpTransport({ baseUrl: gateway.apiUrl(), token: ana.me.token });
    const transport: Transport = (...call) => {
      calls += 1;
      return line(...call);
    };
    const view = { project: null, allows: () => true };
    const contents = await readResource('muster://inbox', { transport, view } as unknown as McpSession);
    const [{ text }] = contents as unknown as [{ text: string }];
    expect(JSON.parse(text)).toMatchObject({ cursor: 510 });
    expect(calls).toBe(2);
    expect((await inboxOf(ana.me.token)).items).toMatchObject({ 0: { seq: 461 }, 49: { seq: 510 } });
  });

  it.each([
    'muster://stories/WEB-99',
    'muster://stories/WEB-99/spec',
    'muster://executions/x/events',
    'file:///etc/passwd',
  ])('are not found at %s', async (uri) => {
    const { ana } = await createPromptLibrary();
    expect((await read(ana.me.token, uri)).error).toMatchObject({ code: -32602, data: { uri } });
  });

  it('are not found at an address of a megabyte', async () => {
    const { ana } = await createPromptLibrary();
    const uri = `muster://stories/${'x'.repeat(1_100_000)}`;
    expect((await read(ana.me.token, uri)).error?.code).toBe(-32602);
  });

  it('are listed: the inbox, and what is open in the project of the connection, else what the caller works on', async () => {
    const { ana, robo } = await createPromptLibrary();
    const api = gateway.apiClient(ana.me.token);
    const done = await api.stories.create({ projectId: 'WEB', title: 'Old' });
    await api.stories.updateStatus({ storyId: done.story.id, status: 'canceled' });
    const uris = async (token: string, query = '') => {
      const { body } = await gateway.rpc(token, 'resources/list', {}, { query });
      return (body.result?.['resources'] as { uri: string }[]).map(({ uri }) => uri);
    };
    const inbox = 'muster://inbox';
    const first = [inbox, 'muster://stories/WEB-1', 'muster://stories/WEB-1/spec'];
    expect(await uris(ana.me.token, '?project=WEB')).toEqual(first);
    expect(await uris(ana.me.token, '?project=WEB&exclude=storySpec_get')).toEqual(first.slice(0, 2));
    expect([await uris(robo.me.token), await uris(robo.me.token, '?toolsets=epics&project=WEB')]).toEqual([
      [inbox],
      [],
    ]);
    await gateway.tool(robo.me.token, 'start_work', { storyId: 'WEB-1' });
    expect([await uris(robo.me.token), await uris(ana.me.token)]).toEqual([first, [inbox]]);
  });

  it('are seen by those alone who may see them', async () => {
    const { ana, dan } = await createPromptLibrary();
    await gateway.apiClient(ana.me.token).projects.update({ projectId: 'WEB', visibility: 'private' });
    expect((await read(dan.me.token, 'muster://stories/WEB-1')).error).toMatchObject({ code: -32602 });
  });
});

describe('skills', () => {
  const uri = 'skill://muster/SKILL.md';

  it('are listed with the digest of the file that can be read, in both eras', async () => {
    const { token } = (await gateway.world.org()).ana.me;
    const entry = {
      ...{ uri, frontmatter: { name: 'muster', description: expect.any(String) } },
      resources: [{ uri, digest: expect.any(String), size: expect.any(Number) }],
    };
    const eras: (typeof gateway.modern)[] = [
      (...call) => gateway.rpc(...call),
      (...call) => gateway.modern(...call),
    ];
    for (const call of eras) {
      const listed = (await call(token, 'skills/list')).body.result;
      expect(listed).toMatchObject({ skills: [entry], ttlMs: 300_000, cacheScope: 'public' });
      const got = (await call(token, 'skills/get', { uri })).body.result;
      expect([got?.['skill']]).toEqual(listed?.['skills']);
      const { contents } = (await call(token, 'resources/read', { uri })).body.result as {
        contents: [{ text: string; mimeType: string }];
      };
      const [{ text, mimeType }] = contents;
      const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
      expect([mimeType, Buffer.byteLength(text)]).toEqual([
        'text/markdown',
        (got?.['skill'] as { resources: [{ size: number }] }).resources[0].size,
      ]);
      expect(got?.['skill']).toMatchObject({ resources: [{ digest }] });
    }
    const discovered = await gateway.modern(token, 'server/discover');
    expect(discovered.body.result).toMatchObject({
      resultType: 'complete',
      capabilities: { extensions: { 'io.modelcontextprotocol/skills': {} } },
    });
  });

  it('that do not exist are invalid parameters', async () => {
    const { token } = (await gateway.world.org()).ana.me;
    const { body } = await gateway.rpc(token, 'skills/get', { uri: 'skill://other/SKILL.md' });
    expect(body.error).toMatchObject({ code: -32_602, message: expect.stringContaining(uri) });
  });
});
