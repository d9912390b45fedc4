import { beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { newId } from '@muster/driver';
import { type Contract, contractKinds, type InputOf, type Story } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { contracts } from './handlers.ts';

const world = useWorld({ stories, contracts });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.chloe.stories.create({ projectId: 'WEB', title: 'Sessions' }));
});

type Draft = Partial<InputOf<typeof boardRegistry.contracts.publish>>;
const publishAs = (who: PersonOf<typeof world>, content: string, draft: Draft = {}) =>
  who.contracts.publish({ projectId: 'WEB', slug: 'session-api', kind: 'typescript', content, ...draft });
const publish = (content: string, draft?: Draft) => publishAs(people.chloe, content, draft);

const listEvents = () =>
  world.rows<{ subject: unknown; data: unknown; project_id: string }>(
    `select subject, data, project_id from activity where org_id = $1 and kind = 'contract.published' order by seq`,
    people.orgId,
  );
const slugsOf = (items: readonly Contract[]) => items.map(({ slug, version }) => `${slug} ${version}`);

describe('contracts.publish', () => {
  it('makes a contract with its first version', async () => {
    const content = 'export type Session = "é";\n';
    const { contract, created } = await publish(content, { storyId: 'web-1', note: 'A first try' });
    expect(created).toBe(true);
    expect(contract).toEqual({
      id: expect.any(String),
      projectId: board.projectId,
      slug: 'session-api',
      version: 1,
      kind: 'typescript',
      content,
      contentHash: createHash('sha256').update(content).digest('hex'),
      size: content.length + 1,
      storyId: story.id,
      note: 'A first try',
      importedBy: null,
      importedFrom: null,
      publishedBy: { kind: 'member', memberId: people.chloe.me.memberId, agentId: null, name: 'Chloé' },
      createdAt: expect.any(String),
    });
    const { items } = await people.dan.contracts.list({ projectId: board.projectId, includeContent: true });
    expect(items).toEqual([contract]);
    expect(await listEvents()).toEqual([
      {
        subject: { type: 'contract', id: contract.id, key: 'session-api', title: 'session-api' },
        data: { slug: 'session-api', version: 1 },
        project_id: board.projectId,
      },
    ]);
  });

  it('makes a version of each change, of the kind as well, and none of the same content', async () => {
    const first = await publish('{}');
    const again = await publishAs(people.robo, '{}', { note: 'Mine', baseVersion: 1 });
    expect(again).toEqual({ contract: first.contract, created: false });
    const second = await publish('{}', { kind: 'json_schema' });
    expect(second).toMatchObject({ contract: { id: first.contract.id, version: 2 }, created: true });
    const third = await publish('{}', { kind: 'typescript' });
    expect(third).toMatchObject({ contract: { version: 3, kind: 'typescript' }, created: true });
    expect((await listEvents()).map(({ data }) => data)).toEqual(
      [1, 2, 3].map((version) => ({ slug: 'session-api', version })),
    );
  });

  it('makes none of the same content with other line ends', async () => {
    const { contract } = await publish('one\r\ntwo\rthree\n');
    expect(contract.content).toBe('one\ntwo\nthree\n');
    expect(await publish('one\ntwo\r\nthree\r\n')).toEqual({ contract, created: false });
  });

  it('does not pass over what somebody published since, not even with the same content', async () => {
    await publish('one');
    await publish('two', { baseVersion: 1 });
    for (const content of ['two', 'three']) {
      for (const baseVersion of [0, 1, 3]) {
        await expect(publish(content, { baseVersion })).rejects.toMatchObject({
          status: 409,
          body: { details: { reason: 'version_mismatch', currentVersion: 2 } },
        });
      }
    }
    await expect(publish('new', { slug: 'other', baseVersion: 1 })).rejects.toMatchObject({
      status: 409,
      body: { details: { currentVersion: 0 } },
    });
    expect((await publish('new', { slug: 'other', baseVersion: 0 })).contract.version).toBe(1);
  });

  it('gives two who publish at once consecutive versions', async () => {
    const { contract } = await publish('zero');
    const outcomes = await world.runUnderContention(
      { table: 'contracts', id: contract.id },
      () => publishAs(people.chloe, 'one'),
      () => publishAs(people.ana, 'two'),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    const { items } = await people.dan.contracts.list({ projectId: 'WEB', slug: 'session-api' });
    expect(items.map((item) => item.version)).toEqual([3, 2, 1]);
  });

  it('lets one of two who publish on the same version win', async () => {
    const { contract } = await publish('zero');
    const outcomes = await world.runUnderContention(
      { table: 'contracts', id: contract.id },
      () => publishAs(people.chloe, 'one', { baseVersion: 1 }),
      () => publishAs(people.ana, 'two', { baseVersion: 1 }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
      reason: 'version_mismatch',
    });
  });

  it('makes one contract where two make the same one at once', async () => {
    // Both calls start before either of them commits, so neither sees the contract that the other one
    // inserts.
    const drafts = ['one', 'two'].map((content) => () => publishAs(people.chloe, content));
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      ...drafts,
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    const { items } = await people.dan.contracts.list({ projectId: 'WEB', slug: 'session-api' });
    expect(items.map((item) => item.version)).toEqual([2, 1]);
    expect(new Set(items.map((item) => item.id)).size).toBe(1);
  });

  it('takes JSON kinds only as a JSON object, a schema as a boolean too, and other kinds as they are', async () => {
    const noKind = ['openapi: 3.1.0', '[]', 'null', '1', '{"a": }', '"{}"', '"true"', '[true]'];
    for (const [kind, contents] of [
      ['openapi', [...noKind, 'true', 'false']],
      ['json_schema', noKind],
    ] as const) {
      for (const content of contents) {
        await expect(publish(content, { kind })).rejects.toMatchObject({
          status: 422,
          body: { details: { reason: 'malformed_content', kind } },
        });
      }
    }
    for (const content of ['true', ' false\n']) {
      const { contract } = await publish(content, { kind: 'json_schema', slug: 'anything' });
      expect(contract).toMatchObject({ kind: 'json_schema', content });
    }
    for (const kind of contractKinds) {
      expect(
        (await publish('{"type": "object"}', { kind, slug: `of-${kind.replace('_', '-')}` })).created,
      ).toBe(true);
    }
    expect((await publish('{"type": ', { slug: 'half' })).created).toBe(true);
  });

  it('takes 256 KiB as bytes, and no byte more, and not nothing', async () => {
    const most = 'é'.repeat(128 * 1024);
    expect((await publish(most)).contract.size).toBe(256 * 1024);
    for (const content of [`${most}x`, '']) {
      await expect(publish(content)).rejects.toMatchObject({ status: 400 });
    }
  });

  it('names no story of another project, and none that is hidden', async () => {
    await arrangeBoard(world, people.orgId, { key: 'APP' });
    await arrangeBoard(world, people.orgId, { key: 'SECRET', visibility: 'private' });
    const other = await people.ana.stories.create({ projectId: 'APP', title: 'Other' });
    const hidden = await people.ana.stories.create({ projectId: 'SECRET', title: 'Hidden' });
    for (const storyId of [other.story.id, 'APP-1']) {
      await expect(publish('x', { storyId })).rejects.toMatchObject({
        status: 422,
        reason: 'mismatched_project',
      });
    }
    for (const storyId of [hidden.story.id, 'SECRET-1', 'WEB-9', newId()]) {
      await expect(publish('x', { storyId })).rejects.toMatchObject({ status: 404 });
      // A missing record is reported before a problem of the content.
      await expect(publish('[]', { kind: 'openapi', storyId })).rejects.toMatchObject({ status: 404 });
    }
    expect((await people.dan.contracts.list({ projectId: 'WEB' })).items).toEqual([]);
  });

  it('is for contributors, and not for archived projects', async () => {
    await expect(publishAs(people.dan, 'x')).rejects.toMatchObject({ status: 403 });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(publish('x')).rejects.toMatchObject({ status: 422, reason: 'archived' });
    expect(await world.rows('select id from contracts where org_id = $1', people.orgId)).toEqual([]);
  });

  it('lets nobody rewrite or remove a version, not even the service', async () => {
    await publish('x');
    const client = await world.database.app.connect();
    try {
      for (const change of [`update contract_versions set content = 'y'`, 'delete from contract_versions']) {
        await client.query('begin');
        await client.query(`select set_config('muster.org_id', $1, true)`, [people.orgId]);
        await expect(client.query(change)).rejects.toMatchObject({ code: '42501' });
        await client.query('rollback');
      }
    } finally {
      client.release();
    }
  });

  it('outlives the story that it was published for', async () => {
    await publish('x', { storyId: story.id });
    await people.ana.stories.delete({ storyId: story.id });
    expect((await people.dan.contracts.list({ projectId: 'WEB' })).items).toMatchObject([{ storyId: null }]);
  });
});

describe('contracts.list', () => {
  it('pages through the newest of each, by slug', async () => {
    for (const slug of ['b', 'a', 'a-1', 'c']) await publish(`${slug} 1`, { slug });
    await publish('a 2', { slug: 'a' });
    const first = await people.dan.contracts.list({ projectId: 'WEB', limit: 2 });
    expect(slugsOf(first.items)).toEqual(['a 2', 'a-1 1']);
    expect(first.items.map(({ content }) => content)).toEqual([null, null]);
    const rest = await people.dan.contracts.list({
      projectId: 'WEB',
      limit: 2,
      includeContent: true,
      cursor: first.nextCursor ?? '',
    });
    expect(rest).toMatchObject({ items: [{ content: 'b 1' }, { content: 'c 1' }], nextCursor: null });
  });

  it('pages through all versions of one, newest first', async () => {
    for (const content of ['1', '2', '3']) await publish(content);
    await publish('other', { slug: 'other' });
    const first = await people.dan.contracts.list({ projectId: 'WEB', slug: 'session-api', limit: 2 });
    expect(slugsOf(first.items)).toEqual(['session-api 3', 'session-api 2']);
    const rest = await people.dan.contracts.list({
      projectId: 'WEB',
      slug: 'session-api',
      limit: 2,
      cursor: first.nextCursor ?? '',
    });
    expect(slugsOf(rest.items)).toEqual(['session-api 1']);
    expect(rest.nextCursor).toBeNull();
    expect((await people.dan.contracts.list({ projectId: 'WEB', slug: 'none' })).items).toEqual([]);
  });

  it('shows the contracts of a story, also those that it only published again', async () => {
    const { story: second } = await people.chloe.stories.create({ projectId: 'WEB', title: 'Second' });
    await publish('a', { slug: 'a', storyId: story.id });
    await publish('a', { slug: 'a', storyId: second.id });
    await publish('b', { slug: 'b', storyId: second.id });
    await publish('b 2', { slug: 'b' });
    await publish('c', { slug: 'c' });
    const of = async (storyId: string, more: { slug?: string; limit?: number; cursor?: string } = {}) =>
      people.dan.contracts.list({ projectId: 'WEB', storyId, ...more });
    expect(slugsOf((await of('WEB-1')).items)).toEqual(['a 1']);
    const first = await of(second.id, { limit: 1 });
    const rest = await of(second.id, { limit: 1, cursor: first.nextCursor ?? '' });
    expect(slugsOf([...first.items, ...rest.items])).toEqual(['a 1', 'b 2']);
    expect(rest.nextCursor).toBeNull();
    expect(slugsOf((await of(second.id, { slug: 'b' })).items)).toEqual(['b 2', 'b 1']);
    expect((await of(story.id, { slug: 'b' })).items).toEqual([]);
    expect((await of(newId())).items).toEqual([]);
  });

  it('takes no cursor that it did not give', async () => {
    const cursors = ['x', ...['[1]', '["a"]'].map((key) => Buffer.from(key).toString('base64url'))];
    const lists = [{ projectId: 'WEB' }, { projectId: 'WEB', slug: 'a' }];
    const refused = [0, 1, 0, 2].map((cursor, index) => ({
      ...lists[index > 1 ? 1 : 0],
      cursor: cursors[cursor],
    }));
    for (const params of refused) {
      await expect(people.dan.contracts.list({ projectId: 'WEB', ...params })).rejects.toMatchObject({
        status: 400,
      });
    }
  });
});
