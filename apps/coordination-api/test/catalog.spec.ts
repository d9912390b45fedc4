/** The catalog of agents: immutable versions, and the roles that may add and delete them. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People<AllHandlers>;
beforeEach(async () => {
  people = await api.org();
});

const slug = 'code-reviewer';
const draft = {
  slug,
  version: '1.0.0',
  name: 'Code reviewer',
  description: 'Reads a change.',
  manifest: { entry: 'AGENT.md' },
  content: '# Read the change',
};
type Draft = Partial<typeof draft> & { tags?: string[]; contentType?: string; encoding?: 'utf8' | 'base64' };

const publish = (who: Person<AllHandlers>, more: Draft = {}) =>
  who.agents.catalog.publish({ ...draft, ...more });
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const said = async (): Promise<unknown[]> =>
  (await people.ana.activity.list({ kinds: ['agent.published', 'agent.deleted'] })).items.map(
    ({ kind, data }) => [kind, data['version']],
  );
const versionsOf = async (): Promise<string[]> =>
  (await people.dan.agents.catalog.get({ slug })).versions.map(({ version }) => version);

describe('agents.catalog.publish', () => {
  it('makes the agent with its first version, which everybody can get and download', async () => {
    const { agent } = await publish(people.robo, {
      tags: ['review', 'review', 'code'],
      contentType: 'text/markdown',
    });
    expect(agent).toMatchObject({
      slug,
      version: '1.0.0',
      manifest: { entry: 'AGENT.md' },
      tags: ['review', 'code'],
      sha256: sha256(draft.content),
      size: draft.content.length,
      contentType: 'text/markdown',
      publishedBy: { kind: 'agent', memberId: people.chloe.me.memberId },
    });
    const { versions, ...got } = await people.dan.agents.catalog.get({ slug });
    expect(got).toEqual({ agent });
    expect(versions).toEqual([
      { version: '1.0.0', sha256: agent.sha256, size: agent.size, createdAt: agent.createdAt },
    ]);
    expect(await people.dan.agents.catalog.get({ agentId: agent.id })).toEqual({ agent, versions });
    expect(await people.dan.agents.catalog.download({ slug })).toEqual({
      slug,
      version: '1.0.0',
      sha256: agent.sha256,
      size: agent.size,
      contentType: 'text/markdown',
      encoding: 'utf8',
      content: draft.content,
    });
    expect(await said()).toEqual([['agent.published', '1.0.0']]);
  });

  it('takes any bytes as base64, and gives them back as they were', async () => {
    const bytes = Buffer.from([0, 1, 255, 0, 128]);
    const { agent } = await publish(people.chloe, { content: bytes.toString('base64'), encoding: 'base64' });
    expect(agent).toMatchObject({ sha256: sha256(bytes), size: 5, contentType: 'application/octet-stream' });
    expect(await people.chloe.agents.catalog.download({ slug })).toMatchObject({
      encoding: 'base64',
      content: bytes.toString('base64'),
    });
    // Two versions with equal bytes have equal content, even if one was sent as base64 and one as text.
    const text = Buffer.from('# Text');
    await publish(people.chloe, { version: '2.0.0', content: text.toString('base64'), encoding: 'base64' });
    const { agent: again } = await publish(people.chloe, { version: '2.0.0', content: '# Text' });
    expect(again.sha256).toBe(sha256(text));
  });

  it('answers the same version with the same content as it is, and refuses it with another', async () => {
    const { agent } = await publish(people.chloe);
    expect(await publish(people.chloe, { name: 'Another name', tags: ['new'] })).toEqual({ agent });
    await expect(publish(people.chloe, { content: '# Else' })).rejects.toMatchObject({
      status: 409,
      body: { code: 'conflict', details: { reason: 'already_exists', sha256: agent.sha256 } },
    });
    expect(await said()).toEqual([['agent.published', '1.0.0']]);
    expect((await people.dan.agents.catalog.download({ slug })).content).toBe(draft.content);
  });

  it('lets exactly one of two contents be a version, also of an agent that nobody made before', async () => {
    const race = (version: string) =>
      Promise.allSettled(
        Array.from({ length: 6 }, (_, index) =>
          publish(people.chloe, { version, content: `# ${index % 3}` }),
        ),
      );
    for (const version of ['1.0.0', '1.0.1']) {
      const outcomes = await race(version);
      const won = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value.agent.sha256 : [],
      );
      expect([won.length, new Set(won).size]).toEqual([2, 1]);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ reason: 'already_exists' });
    }
    expect(await said()).toEqual([
      ['agent.published', '1.0.1'],
      ['agent.published', '1.0.0'],
    ]);
  });

  it('knows which version is the newest, in whatever order they come at once', async () => {
    const { agent } = await publish(people.chloe);
    const outcomes = await api.world.runUnderContention(
      { table: 'catalog_agents', id: agent.id },
      () => publish(people.chloe, { version: '2.0.0' }),
      () => publish(people.chloe, { version: '1.5.0' }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect((await people.dan.agents.catalog.get({ slug })).agent.version).toBe('2.0.0');
  });

  it('takes the next versions of whoever published the first, and of admins', async () => {
    await publish(people.chloe);
    const eve = await api.world.member(people.orgId, 'Eve', 'member');
    await expect(publish(eve, { version: '1.1.0' })).rejects.toMatchObject({
      status: 403,
      body: { details: { reason: 'not_publisher' } },
    });
    await publish(people.robo, { version: '1.1.0' });
    await publish(people.ben, { version: '1.2.0' });
    await expect(publish(people.dan, { slug: 'other' })).rejects.toMatchObject({ status: 403 });
    expect(await versionsOf()).toEqual(['1.2.0', '1.1.0', '1.0.0']);
  });

  it('makes no more agents than the plan allows, however many are made at once', async () => {
    people = await api.org({ plan: 'free' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 13 }, (_, index) => publish(people.chloe, { slug: `agent-${index}` })),
    );
    const { entitlement } = await people.ana.billing.orgEntitlement();
    expect(entitlement).toMatchObject({ limits: { agentsInCatalog: 10 }, usage: { agentsInCatalog: 10 } });
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    expect(refused).toHaveLength(3);
    for (const reason of refused)
      expect(reason).toMatchObject({
        status: 422,
        body: { details: { reason: 'limit_exceeded', limit: 10, used: 10 } },
      });
    // Publish another version of an existing agent.
    const [some] = (await people.dan.agents.catalog.list({ limit: 1 })).items;
    await publish(people.chloe, { slug: some?.slug ?? '', version: '1.1.0' });
  });

  it('bounds the versions of an agent', async () => {
    const { agent } = await publish(people.chloe);
    await api.world.rows(
      `insert into catalog_versions select org_id, agent_id, '0.0.' || n, name, description, manifest, tags, content,
         content_type, encoding, sha256, size, published_by
       from catalog_versions, generate_series(1, 499) n where agent_id = $1`,
      agent.id,
    );
    expect(await versionsOf()).toHaveLength(500);
    await expect(publish(people.chloe, { version: '2.0.0' })).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'limit_exceeded', limit: 500 } },
    });
    expect((await publish(people.chloe)).agent.version).toBe('1.0.0');
  });

  const kib = 1024;
  it.each<[string, Record<string, unknown>, string]>([
    ['a slug with capitals', { slug: 'Code' }, 'slug'],
    ['a slug that ends in -', { slug: 'code-' }, 'slug'],
    ['a slug with a path', { slug: '../code' }, 'slug'],
    ['a slug too long', { slug: 'a'.repeat(65) }, 'slug'],
    ['half a version', { version: '1.0' }, 'version'],
    ['a version with v', { version: 'v1.0.0' }, 'version'],
    ['a version with zeros', { version: '01.0.0' }, 'version'],
    ['a range for a version', { version: '^1.0.0' }, 'version'],
    ['an endless version', { version: `1.0.0-${'a'.repeat(200)}` }, 'version'],
    ['a version of huge numbers', { version: '99999999999999999.0.0' }, 'version'],
    ['no content', { content: '' }, 'content'],
    ['no base64', { content: 'not base64!', encoding: 'base64' }, 'content'],
    ['base64 without padding', { content: 'QQ', encoding: 'base64' }, 'content'],
    ['base64 for the web', { content: 'QUJ_', encoding: 'base64' }, 'content'],
    ['NUL in text', { content: 'a\0b' }, ''],
    ['an unknown encoding', { encoding: 'hex' }, 'encoding'],
    ['a content type over two lines', { contentType: 'text/plain\r\nx: y' }, 'contentType'],
    ['a manifest that is a list', { manifest: [] }, 'manifest'],
    ['a manifest too large', { manifest: { text: 'x'.repeat(64 * kib) } }, 'manifest'],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, 'tags'],
    ['a byte too much text', { content: 'x'.repeat(4 * kib * kib + 1) }, 'content'],
    [
      'a byte too much in base64',
      { content: Buffer.alloc(4 * kib * kib + 1).toString('base64'), encoding: 'base64' },
      'content',
    ],
  ])('refuses %s', async (_title, wrong, field) => {
    const answer = await api.call(people.chloe.me.token, 'agents.catalog.publish', { ...draft, ...wrong });
    expect(answer.status).toBe(400);
    if (field !== '') expect(answer.body.details?.issues?.map(({ path }) => path)).toEqual([field]);
    expect((await people.dan.agents.catalog.list()).items).toEqual([]);
  });

  it('takes 4 MiB, and no body over 8', async () => {
    const most = Buffer.alloc(4 * kib * kib, 7);
    const { agent } = await publish(people.chloe, { content: most.toString('base64'), encoding: 'base64' });
    expect([agent.size, agent.sha256]).toEqual([most.length, sha256(most)]);
    const { content } = await people.dan.agents.catalog.download({ slug });
    expect(Buffer.from(content, 'base64').equals(most)).toBe(true);
    const over = { ...draft, content: 'x'.repeat(8 * kib * kib) };
    expect((await api.call(people.chloe.me.token, 'agents.catalog.publish', over)).status).toBe(413);
  });
});

describe('agents.catalog.get and download', () => {
  const all = ['1.0.0', '2.0.0-beta.2', '1.10.0', '1.9.0', '2.0.0-beta.10'];
  beforeEach(async () => {
    for (const version of all) await publish(people.chloe, { version, content: `# ${version}` });
  });

  it('show versions newest first, pre-releases after releases', async () => {
    expect(await versionsOf()).toEqual(['1.10.0', '1.9.0', '1.0.0', '2.0.0-beta.10', '2.0.0-beta.2']);
  });

  it.each([
    [undefined, '1.10.0'],
    ['1.9.0', '1.9.0'],
    ['^1.0.0', '1.10.0'],
    ['~1.9', '1.9.0'],
    ['<1.5 || 3.x', '1.0.0'],
    ['^2.0.0-beta', '2.0.0-beta.10'],
    ['2.0.0-beta.2', '2.0.0-beta.2'],
  ])('understand %s as %s', async (asked, meant) => {
    const which = { slug, ...(asked !== undefined && { version: asked }) };
    const { agent, versions } = await people.dan.agents.catalog.get(which);
    expect([agent.version, versions.length]).toEqual([meant, all.length]);
    const { slug: _, ...version } = which;
    for (const ref of [which, { agentId: agent.id, ...version }])
      expect(await people.dan.agents.catalog.download(ref)).toMatchObject({
        version: meant,
        content: `# ${meant}`,
        sha256: sha256(`# ${meant}`),
      });
  });

  it('find no version that is not there, no agent, and nothing by nonsense', async () => {
    const { catalog } = people.dan.agents;
    for (const version of ['1.2.3', '^3', '2.x', '>=9'])
      for (const find of [catalog.get({ slug, version }), catalog.download({ slug, version })])
        await expect(find).rejects.toMatchObject({ status: 404 });
    for (const find of [
      catalog.get({ slug: 'none' }),
      catalog.get({ agentId: newId() }),
      catalog.download({ slug: 'none' }),
      catalog.download({ agentId: newId() }),
    ])
      await expect(find).rejects.toMatchObject({ status: 404 });
    for (const version of ['latest', '1.2.3.4', "'; drop table catalog_agents; --", '', 'x'.repeat(300)])
      for (const operation of ['get', 'download']) {
        const answer = await api.call(people.dan.me.token, `agents.catalog.${operation}`, { slug, version });
        expect([version, answer.status, answer.body.details?.issues?.[0]?.path]).toEqual([
          version,
          400,
          'version',
        ]);
      }
    for (const ref of [{}, { slug, agentId: newId() }])
      for (const operation of ['get', 'download'])
        expect((await api.call(people.dan.me.token, `agents.catalog.${operation}`, ref)).status).toBe(400);
  });
});

describe('agents.catalog.list', () => {
  it('lists each agent as its newest version says, by slug, what was searched for', async () => {
    await publish(people.chloe, { slug: 'b', name: 'Old name', tags: ['old'] });
    await publish(people.chloe, { slug: 'b', version: '1.1.0', name: '100% Tester', tags: ['test'] });
    await publish(people.chloe, { slug: 'b', version: '1.0.1', name: 'Patched', tags: ['old'] });
    await publish(people.chloe, { slug: 'a', description: 'Writes docs', tags: ['docs', 'test'] });
    await publish(people.chloe, { slug: 'c' });
    const { list } = people.dan.agents.catalog;
    const slugs = async (params: Parameters<typeof list>[0]) =>
      (await list(params)).items.map((agent) => agent.slug);
    const { items } = await list();
    expect(items.map((agent) => [agent.slug, agent.version])).toEqual([
      ['a', '1.0.0'],
      ['b', '1.1.0'],
      ['c', '1.0.0'],
    ]);
    expect(items[0]).toEqual((await people.dan.agents.catalog.get({ slug: 'a' })).agent);
    expect(await slugs({ query: 'DOCS' })).toEqual(['a']);
    expect(await slugs({ query: '100%' })).toEqual(['b']);
    expect(await slugs({ query: '%' })).toEqual(['b']);
    expect(await slugs({ query: '_' })).toEqual([]);
    expect(await slugs({ tag: 'test' })).toEqual(['a', 'b']);
    expect(await slugs({ tag: 'old' })).toEqual([]);
    expect((await list({ includeManifest: false })).items.map(({ manifest }) => manifest)).toEqual([
      null,
      null,
      null,
    ]);
    const first = await list({ limit: 2 });
    const rest = await list({ limit: 2, cursor: first.nextCursor ?? '' });
    expect([first.items.length, rest.items.map((agent) => agent.slug), rest.nextCursor]).toEqual([
      2,
      ['c'],
      null,
    ]);
  });
});

describe('agents.catalog.delete', () => {
  it('deletes a version for ever: it comes back as it was, or not at all', async () => {
    await publish(people.chloe);
    await publish(people.chloe, { version: '1.1.0' });
    expect(await people.chloe.agents.catalog.delete({ slug, version: '1.1.0' })).toEqual({ deleted: true });
    expect(await versionsOf()).toEqual(['1.0.0']);
    expect((await people.dan.agents.catalog.list()).items.map(({ version }) => version)).toEqual(['1.0.0']);
    await expect(people.chloe.agents.catalog.delete({ slug, version: '1.1.0' })).rejects.toMatchObject({
      status: 404,
    });
    await expect(publish(people.chloe, { version: '1.1.0', content: '# Else' })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'already_exists', sha256: sha256(draft.content), deleted: true } },
    });
    await publish(people.chloe, { version: '1.1.0', description: 'Back again' });
    expect(await versionsOf()).toEqual(['1.1.0', '1.0.0']);
    expect(await said()).toEqual([
      ['agent.published', '1.1.0'],
      ['agent.deleted', '1.1.0'],
      ['agent.published', '1.1.0'],
      ['agent.published', '1.0.0'],
    ]);
  });

  it('leaves nothing of an agent but what its versions were', async () => {
    const { agent } = await publish(people.chloe);
    await publish(people.chloe, { version: '1.1.0' });
    await people.chloe.agents.catalog.delete({ slug });
    for (const gone of [
      () => people.dan.agents.catalog.get({ slug }),
      () => people.dan.agents.catalog.get({ agentId: agent.id }),
      () => people.dan.agents.catalog.download({ slug }),
      () => people.chloe.agents.catalog.delete({ slug }),
    ])
      await expect(gone()).rejects.toMatchObject({ status: 404 });
    expect((await people.dan.agents.catalog.list()).items).toEqual([]);
    // After the deletion, another member may use the slug again. The deleted version numbers stay reserved.
    const eve = await api.world.member(people.orgId, 'Eve', 'member');
    for (const version of ['1.0.0', '1.1.0'])
      await expect(publish(eve, { version, content: '# Mine' })).rejects.toMatchObject({ status: 409 });
    await publish(eve, { version: '2.0.0', content: '# Mine' });
    expect(await versionsOf()).toEqual(['2.0.0']);
  });

  it('is gone with its last version', async () => {
    await publish(people.chloe);
    await people.chloe.agents.catalog.delete({ slug, version: '1.0.0' });
    await expect(people.dan.agents.catalog.get({ slug })).rejects.toMatchObject({ status: 404 });
  });

  it('is for whoever published it, and for admins with that scope; who tried is in the audit', async () => {
    await publish(people.chloe);
    const eve = await api.world.member(people.orgId, 'Eve', 'member');
    await expect(eve.agents.catalog.delete({ slug })).rejects.toMatchObject({ status: 403 });
    const writer = await api.world.token(people.orgId, people.ben.me.memberId, { scopes: ['write'] });
    await expect(writer.agents.catalog.delete({ slug })).rejects.toMatchObject({ reason: 'scope' });
    const { items } = await people.ana.audit.list({ operation: 'agents.catalog.delete', outcome: 'denied' });
    expect(items).toMatchObject([{ reason: 'scope' }, { target: slug, reason: 'not_publisher' }]);
    expect(await people.ben.agents.catalog.delete({ slug })).toEqual({ deleted: true });
  });

  it('takes its turn with a publish: whichever comes first, no content is forgotten', async () => {
    const { agent } = await publish(people.chloe);
    const outcomes = await api.world.runUnderContention<unknown>(
      { table: 'catalog_agents', id: agent.id },
      () => publish(people.chloe, { version: '1.1.0' }),
      () => people.chloe.agents.catalog.delete({ slug }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    for (const version of ['1.0.0', '1.1.0'])
      await expect(publish(people.chloe, { version, content: '# Else' })).rejects.toMatchObject({
        reason: 'already_exists',
      });
    // Versions that can be downloaded are those that are listed.
    const listed = (await people.dan.agents.catalog.list()).items.map(({ version }) => version);
    const got = await versionsOf().catch(() => []);
    expect(listed).toEqual(got.slice(0, 1));
  });
});
