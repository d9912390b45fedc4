import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf, type Prompt } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { prompts } from './handlers.ts';

const world = useWorld({ prompts });

let people: PeopleOf<typeof world>;
let board: TestBoard;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
});

type Draft = Partial<InputOf<typeof boardRegistry.prompts.org.upsert>>;
const draftOf = (draft: Draft) => ({ slug: 'start', title: 'Start', body: 'Read the spec.', ...draft });
const upsertOrg = async (draft: Draft = {}, who: PersonOf<typeof world> = people.ben): Promise<Prompt> =>
  (await who.prompts.org.upsert(draftOf(draft))).prompt;
const upsertProject = async (draft: Draft = {}, who: PersonOf<typeof world> = people.ben): Promise<Prompt> =>
  (await who.prompts.project.upsert({ projectId: 'web', ...draftOf(draft) })).prompt;

/**
 * The tests run for the prompts of the organization and for those of a project. Both give the same
 * guarantees.
 */
const owners = ['org', 'project'] as const;
const upsert = { org: upsertOrg, project: upsertProject };
const list = {
  org: (who: PersonOf<typeof world>, params: InputOf<typeof boardRegistry.prompts.org.list> = {}) =>
    who.prompts.org.list(params),
  project: (who: PersonOf<typeof world>, params: InputOf<typeof boardRegistry.prompts.org.list> = {}) =>
    who.prompts.project.list({ projectId: 'WEB', ...params }),
};
const remove = {
  org: (who: PersonOf<typeof world>, slug: string) => who.prompts.org.delete({ slug }),
  project: (who: PersonOf<typeof world>, slug: string) =>
    who.prompts.project.delete({ projectId: 'WEB', slug }),
};

const listEvents = () =>
  world.rows<{ kind: string; subject: unknown; data: unknown; project_id: string | null }>(
    `select kind, subject, data, project_id from activity where org_id = $1 order by seq`,
    people.orgId,
  );

describe.each(owners)('prompts.%s.upsert', (owner) => {
  it('makes a prompt, and then changes it', async () => {
    const asks = [{ name: 'storyKey', description: 'Such as WEB-42', required: true }];
    const made = await upsert[owner]({ arguments: asks, tags: ['daily', 'daily'] });
    const ben = { kind: 'member', memberId: people.ben.me.memberId, agentId: null, name: 'Ben' };
    expect(made).toEqual({
      id: expect.any(String),
      scope: owner,
      projectId: owner === 'org' ? null : board.projectId,
      slug: 'start',
      title: 'Start',
      body: 'Read the spec.',
      bodyBytes: expect.any(Number),
      arguments: asks,
      tags: ['daily'],
      createdBy: ben,
      updatedBy: ben,
      importedBy: null,
      importedFrom: null,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
      version: 1,
    });
    const changed = await upsert[owner]({ title: 'Begin', expectedVersion: 1 }, people.ana);
    expect(changed).toEqual({
      ...made,
      title: 'Begin',
      arguments: [],
      tags: [],
      updatedBy: { ...ben, memberId: people.ana.me.memberId, name: 'Ana' },
      updatedAt: expect.any(String),
      version: 2,
    });
    expect((await list[owner](people.dan)).items).toEqual([changed]);
    const subject = { type: 'prompt', id: made.id, key: 'start' };
    const projectId = made.projectId;
    expect(await listEvents()).toEqual([
      {
        kind: 'prompt.created',
        subject: { ...subject, title: 'Start' },
        data: { slug: 'start' },
        project_id: projectId,
      },
      {
        kind: 'prompt.updated',
        subject: { ...subject, title: 'Begin' },
        data: { slug: 'start' },
        project_id: projectId,
      },
    ]);
  });

  it('changes nothing where the content is the same', async () => {
    const asks = [{ name: 'a', description: '', required: false }];
    const made = await upsert[owner]({ arguments: asks, tags: ['t'] });
    expect(await upsert[owner]({ arguments: [{ name: 'a' }], tags: ['t'] }, people.ana)).toEqual(made);
    expect(await listEvents()).toHaveLength(1);
  });

  it('does not overwrite what somebody changed since, nor make what should be there', async () => {
    await expect(upsert[owner]({ expectedVersion: 1 })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'version_mismatch', currentVersion: 0 } },
    });
    expect((await list[owner](people.dan)).items).toEqual([]);
    const made = await upsert[owner]();
    for (const draft of [{}, { title: 'Other' }]) {
      await expect(upsert[owner]({ ...draft, expectedVersion: 2 })).rejects.toMatchObject({
        status: 409,
        body: { details: { reason: 'version_mismatch', currentVersion: 1 } },
      });
    }
    expect((await list[owner](people.dan)).items).toEqual([made]);
  });

  it('makes one prompt where two make the same one at once', async () => {
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      () => upsert[owner]({ title: 'One' }),
      () => upsert[owner]({ title: 'Two' }, people.ana),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    const { items } = await list[owner](people.dan);
    expect(items).toMatchObject([{ version: 2 }]);
    expect(outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value.version).sort()).toEqual(
      [1, 2],
    );
  });

  it('lets one of two who change the same version win', async () => {
    const made = await upsert[owner]();
    const outcomes = await world.runUnderContention(
      { table: 'prompts', id: made.id },
      () => upsert[owner]({ title: 'One', expectedVersion: 1 }),
      () => upsert[owner]({ title: 'Two', expectedVersion: 1 }, people.ana),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
      reason: 'version_mismatch',
    });
  });

  it('makes it anew where it is deleted at the same moment, or is deleted after', async () => {
    const made = await upsert[owner]();
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'prompts', id: made.id },
      () => remove[owner](people.ben, 'start'),
      () => upsert[owner]({ title: 'Again' }, people.ana),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    const { items } = await list[owner](people.dan);
    const kinds = (await listEvents()).map(({ kind }) => kind);
    if (kinds.at(-1) === 'prompt.deleted') expect(items).toEqual([]);
    else expect(items).toMatchObject([{ title: 'Again', version: 1 }]);
  });

  it.each<[string, Draft]>([
    ['a slug in capitals', { slug: 'Start' }],
    ['a slug of 65', { slug: 'a'.repeat(65) }],
    ['an empty body', { body: '' }],
    ['a body over 64 KiB', { body: 'é'.repeat(32 * 1024) + 'x' }],
    ['21 arguments', { arguments: Array.from({ length: 21 }, (_, index) => ({ name: `a${index}` })) }],
    ['two arguments of one name', { arguments: [{ name: 'a' }, { name: 'a', required: true }] }],
    ['an argument that is no word', { arguments: [{ name: 'a b' }] }],
  ])('refuses %s', async (_what, draft) => {
    await expect(upsert[owner](draft)).rejects.toMatchObject({ status: 400 });
  });

  it('takes 64 KiB as bytes', async () => {
    const body = 'é'.repeat(32 * 1024);
    expect((await upsert[owner]({ body })).body).toBe(body);
  });
});

describe.each(owners)('prompts.%s.delete', (owner) => {
  it('removes it, and it is gone', async () => {
    const { id } = await upsert[owner]();
    expect(await remove[owner](people.ben, 'start')).toEqual({ deleted: true });
    expect((await list[owner](people.dan)).items).toEqual([]);
    expect((await listEvents()).at(-1)).toMatchObject({ kind: 'prompt.deleted', subject: { id } });
    await expect(remove[owner](people.ben, 'start')).rejects.toMatchObject({ status: 404 });
    expect((await upsert[owner]()).version).toBe(1);
  });
});

describe('who may', () => {
  it('write: admins for the organization, leads for a project', async () => {
    await expect(upsertOrg({}, people.chloe)).rejects.toMatchObject({ status: 403 });
    await expect(upsertProject({}, people.chloe)).rejects.toMatchObject({ status: 403 });
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'lead')`,
      people.orgId,
      board.projectId,
      people.chloe.me.memberId,
    );
    await upsertProject({}, people.robo);
    await expect(remove.org(people.chloe, 'start')).rejects.toMatchObject({ status: 403 });
    await expect(remove.project(people.dan, 'start')).rejects.toMatchObject({ status: 403 });
  });

  it('nobody write into an archived project', async () => {
    await upsertProject();
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(upsertProject({ title: 'New' })).rejects.toMatchObject({ status: 422, reason: 'archived' });
    await expect(upsertProject({ slug: 'new' })).rejects.toMatchObject({ status: 422, reason: 'archived' });
    await expect(remove.project(people.ben, 'start')).rejects.toMatchObject({
      status: 422,
      reason: 'archived',
    });
    expect((await list.project(people.dan)).items).toMatchObject([{ title: 'Start' }]);
  });

  it('see: of a private project only who is in it, as of the organization everybody', async () => {
    await arrangeBoard(world, people.orgId, { key: 'SECRET', visibility: 'private' });
    const inSecret = { projectId: 'SECRET', ...draftOf({}) };
    await people.ben.prompts.project.upsert(inSecret);
    for (const call of [
      () => people.chloe.prompts.project.upsert(inSecret),
      () => people.chloe.prompts.project.delete({ projectId: 'SECRET', slug: 'start' }),
      () => people.chloe.prompts.project.list({ projectId: 'SECRET', effective: true }),
    ]) {
      await expect(call()).rejects.toMatchObject({ status: 404 });
    }
    expect((await list.org(people.chloe)).items).toEqual([]);
    expect((await people.chloe.prompts.project.list({ projectId: 'WEB', effective: true })).items).toEqual(
      [],
    );
  });
});

describe.each(owners)('prompts.%s.list', (owner) => {
  it('pages by slug, byte by byte, and shows nothing of other owners', async () => {
    for (const slug of ['b', 'a-1', 'a', '0']) await upsert[owner]({ slug });
    await upsert[owner === 'org' ? 'project' : 'org']({ slug: 'elsewhere' });
    const first = await list[owner](people.dan, { limit: 3 });
    const rest = await list[owner](people.dan, { limit: 3, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...rest.items].map(({ slug }) => slug)).toEqual(['0', 'a', 'a-1', 'b']);
    expect(rest.nextCursor).toBeNull();
  });

  it('shows one by its slug, and leaves the text out when asked to', async () => {
    await upsert[owner]({ slug: 'a' });
    const made = await upsert[owner]({ slug: 'b' });
    expect(await list[owner](people.dan, { slug: 'b' })).toEqual({ items: [made], nextCursor: null });
    expect((await list[owner](people.dan, { slug: 'b', includeBody: false })).items).toEqual([
      { ...made, body: null },
    ]);
  });

  it('leaves long texts out unless they are asked for, says how long they are, and stays below 1 MiB', async () => {
    const body = 'x'.repeat(60 * 1024);
    const slugs = Array.from({ length: 20 }, (_, n) => `long-${String(n).padStart(2, '0')}`);
    for (const slug of slugs) await upsert[owner]({ slug, body });
    await upsert[owner]({ slug: 'short' });
    const { items } = await list[owner](people.dan, { limit: 200 });
    expect(items.map((item) => [item.slug, item.body, item.bodyBytes])).toEqual([
      ...slugs.map((slug) => [slug, null, body.length]),
      ['short', expect.any(String), expect.any(Number)],
    ]);
    expect((await list[owner](people.dan, { slug: 'long-00' })).items[0]?.body).toBe(body);
    const first = await list[owner](people.dan, { limit: 200, includeBody: true });
    expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(1_100_000);
    const rest = await list[owner](people.dan, {
      ...{ limit: 200, includeBody: true, cursor: first.nextCursor ?? '' },
    });
    expect([...first.items, ...rest.items].map(({ slug }) => slug)).toEqual([...slugs, 'short']);
    expect([...first.items, ...rest.items].every((item) => item.body !== null)).toBe(true);
  });

  it('takes no cursor that it did not give', async () => {
    for (const cursor of ['x', Buffer.from('[1]').toString('base64url')]) {
      await expect(list[owner](people.dan, { cursor })).rejects.toMatchObject({ status: 400 });
    }
  });
});

describe('what a project has', () => {
  const effective = async (params: InputOf<typeof boardRegistry.prompts.org.list> = {}, projectId = 'WEB') =>
    people.dan.prompts.project.list({ projectId, effective: true, ...params });
  const shown = (items: readonly Prompt[]) => items.map(({ slug, scope }) => `${slug} ${scope}`);

  it('is its own prompts and the organization’s that none of them hides, in one order over pages', async () => {
    await arrangeBoard(world, people.orgId, { key: 'APP' });
    for (const slug of ['a', 'c', 'd', 'f']) await upsertOrg({ slug });
    for (const slug of ['b', 'c', 'e', 'f']) await upsertProject({ slug });
    const all = ['a org', 'b project', 'c project', 'd org', 'e project', 'f project'];
    expect(shown((await effective()).items)).toEqual(all);
    for (const limit of [1, 2, 4]) {
      const seen: Prompt[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await effective({ limit, ...(cursor !== undefined && { cursor }) });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items);
        cursor = page.nextCursor;
      }
      expect(shown(seen)).toEqual(all);
    }
    expect(shown((await effective({}, 'APP')).items)).toEqual(['a org', 'c org', 'd org', 'f org']);
    expect(shown((await effective({ slug: 'c' })).items)).toEqual(['c project']);
    expect((await effective({ slug: 'd', includeBody: false })).items).toMatchObject([
      { scope: 'org', body: null },
    ]);
    await remove.project(people.ben, 'c');
    expect(shown((await effective({ slug: 'c' })).items)).toEqual(['c org']);
  });
});
