import { beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { newId } from '@muster/driver';
import { type Story } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from './handlers.ts';

const world = useWorld({ stories, storySpec });

let people: PeopleOf<typeof world>;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  const board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.chloe.stories.create({ projectId: board.projectId, title: 'Passkeys' }));
});

const listEvents = () =>
  world.rows<{ kind: string; story_id: string; data: unknown }>(
    `select kind, story_id, data from activity where org_id = $1 and kind like 'spec.%' order by seq`,
    people.orgId,
  );
const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex');
const write = async (content: string) =>
  (await people.chloe.storySpec.update({ storyId: story.id, content })).spec;

describe('storySpec.get', () => {
  it('answers version 0, empty, where nobody wrote one', async () => {
    const unwritten = {
      storyId: story.id,
      version: 0,
      content: '',
      contentHash: null,
      author: null,
      importedBy: null,
      importedFrom: null,
      note: null,
      createdAt: null,
    };
    expect(await people.dan.storySpec.get({ storyId: 'web-1' })).toEqual({ spec: unwritten });
    await write('text\n');
    expect(await people.dan.storySpec.get({ storyId: story.id, version: 0 })).toEqual({ spec: unwritten });
  });

  it('answers the newest version, or the one asked for, by id and by key', async () => {
    const first = await write('one\n');
    const second = await write('two\n');
    for (const storyId of [story.id, 'WEB-1', 'wEb-1']) {
      expect((await people.dan.storySpec.get({ storyId })).spec).toEqual(second);
      expect((await people.dan.storySpec.get({ storyId, version: 1 })).spec).toEqual(first);
    }
  });

  it('knows no version that was never written, and no story of another organization', async () => {
    await write('one\n');
    await expect(people.dan.storySpec.get({ storyId: story.id, version: 2 })).rejects.toMatchObject({
      status: 404,
    });
    const { ana } = await world.org();
    for (const storyId of [story.id, newId(), 'WEB-1']) {
      await expect(ana.storySpec.get({ storyId })).rejects.toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

describe('storySpec.update', () => {
  it('makes no version of the same text with other line ends', async () => {
    const spec = await write('one\r\ntwo\rthree\n');
    expect(spec.content).toBe('one\ntwo\nthree\n');
    expect(await write('one\r\ntwo\nthree\r\n')).toEqual(spec);
    expect(await listEvents()).toHaveLength(1);
  });

  it('adds a version with its hash and its lines, and moves the story along', async () => {
    const { spec } = await people.robo.storySpec.update({
      storyId: 'WEB-1',
      content: 'a\nb\n',
      note: 'First draft',
    });
    expect(spec).toMatchObject({
      storyId: story.id,
      version: 1,
      content: 'a\nb\n',
      contentHash: hashOf('a\nb\n'),
      note: 'First draft',
      author: {
        kind: 'agent',
        memberId: people.chloe.me.memberId,
        agentId: people.robo.me.agentId,
        name: 'Robo',
      },
    });
    await people.chloe.storySpec.update({ storyId: story.id, content: 'a\nB\nc\n', baseVersion: 1 });
    expect((await people.dan.storySpec.get({ storyId: story.id, version: 1 })).spec).toEqual(spec);
    const { story: moved } = await people.dan.stories.get({ storyId: story.id });
    expect(moved).toMatchObject({ specVersion: 2, version: story.version + 2 });
    expect(moved.updatedAt > story.updatedAt).toBe(true);
    expect(await listEvents()).toEqual([
      { kind: 'spec.updated', story_id: story.id, data: { version: 1, linesAdded: 2, linesRemoved: 0 } },
      { kind: 'spec.updated', story_id: story.id, data: { version: 2, linesAdded: 2, linesRemoved: 1 } },
    ]);
  });

  it('makes no version of the same content, whether or not it is the first', async () => {
    expect((await people.chloe.storySpec.update({ storyId: story.id, content: '' })).spec.version).toBe(0);
    const spec = await write('same\n');
    const again = await people.ana.storySpec.update({
      storyId: story.id,
      content: 'same\n',
      baseVersion: 1,
      note: 'Mine',
    });
    expect(again.spec).toEqual(spec);
    expect((await people.dan.stories.get({ storyId: story.id })).story.version).toBe(story.version + 1);
    expect(await listEvents()).toHaveLength(1);
  });

  it('does not overwrite what somebody wrote since, not even with the same content', async () => {
    await write('one\n');
    const spec = await write('two\n');
    for (const content of ['three\n', spec.content]) {
      for (const baseVersion of [0, 1, 3]) {
        await expect(
          people.ana.storySpec.update({ storyId: story.id, content, baseVersion }),
        ).rejects.toMatchObject({
          status: 409,
          body: { details: { reason: 'version_mismatch', currentVersion: 2 } },
        });
      }
    }
    expect((await people.dan.storySpec.get({ storyId: story.id })).spec).toEqual(spec);
  });

  it('lets one of two who write on the same version win', async () => {
    await write('base\n');
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: story.id },
      () => people.ana.storySpec.update({ storyId: story.id, content: 'of Ana\n', baseVersion: 1 }),
      () => people.ben.storySpec.update({ storyId: story.id, content: 'of Ben\n', baseVersion: 1 }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
      status: 409,
      reason: 'version_mismatch',
    });
  });

  it('keeps both when two write without naming a version, each against the one before', async () => {
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: story.id },
      () => people.ana.storySpec.update({ storyId: story.id, content: 'a\n' }),
      () => people.ben.storySpec.update({ storyId: story.id, content: 'a\nb\n' }),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    const { items } = await people.dan.storySpec.history({ storyId: story.id });
    expect(items.map((item) => item.version)).toEqual([2, 1]);
    expect(items.reduce((lines, item) => lines + item.linesAdded - item.linesRemoved, 0)).toBe(
      (await people.dan.storySpec.get({ storyId: story.id })).spec.content.split('\n').length - 1,
    );
  });

  it('takes 256 KiB as bytes, and no byte more', async () => {
    const most = `${'é'.repeat(128 * 1024 - 1)}\n\n`;
    expect((await write(most)).content).toBe(most);
    await expect(write(`${most}x`)).rejects.toMatchObject({ status: 400 });
  });

  it('is for contributors, and not for archived projects', async () => {
    await expect(people.dan.storySpec.update({ storyId: story.id, content: 'x' })).rejects.toMatchObject({
      status: 403,
    });
    await write('x\n');
    await world.rows('update projects set archived_at = now() where id = $1', story.projectId);
    for (const call of [
      () => people.ana.storySpec.update({ storyId: story.id, content: 'y' }),
      () => people.ana.storySpec.restore({ storyId: story.id, version: 1 }),
    ]) {
      await expect(call()).rejects.toMatchObject({ status: 422, reason: 'archived' });
    }
  });
});

describe('storySpec.history', () => {
  it('pages from the newest to the oldest, without content', async () => {
    const written = [];
    for (const content of ['a\n', 'a\nb\n', 'c\n']) written.push(await write(content));
    const first = await people.dan.storySpec.history({ storyId: 'web-1', limit: 2 });
    const rest = await people.dan.storySpec.history({
      storyId: story.id,
      limit: 2,
      cursor: first.nextCursor ?? '',
    });
    const lines = [
      [1, 2],
      [1, 0],
      [1, 0],
    ];
    expect([...first.items, ...rest.items]).toEqual(
      written.reverse().map(({ content: _, ...entry }, index) => ({
        ...entry,
        linesAdded: lines[index]?.[0],
        linesRemoved: lines[index]?.[1],
      })),
    );
    expect(rest.nextCursor).toBeNull();
  });

  it('takes no cursor that it did not give', async () => {
    for (const cursor of [
      'x',
      Buffer.from('["a"]').toString('base64url'),
      Buffer.from('[-1]').toString('base64url'),
      Buffer.from('[2147483648]').toString('base64url'),
    ]) {
      await expect(people.dan.storySpec.history({ storyId: story.id, cursor })).rejects.toMatchObject({
        status: 400,
      });
    }
  });
});

describe('storySpec.restore', () => {
  it('brings old content back as a new version', async () => {
    const first = await write('a\nb\n');
    await write('c\n');
    const { spec } = await people.ana.storySpec.restore({ storyId: 'WEB-1', version: 1 });
    expect(spec).toMatchObject({
      version: 3,
      content: first.content,
      contentHash: first.contentHash,
      note: null,
      author: { name: 'Ana' },
    });
    expect((await people.dan.storySpec.get({ storyId: story.id })).spec).toEqual(spec);
    expect((await people.dan.storySpec.history({ storyId: story.id, limit: 1 })).items).toMatchObject([
      { version: 3, linesAdded: 2, linesRemoved: 1 },
    ]);
    expect((await people.dan.stories.get({ storyId: story.id })).story).toMatchObject({
      specVersion: 3,
      version: 4,
    });
    expect((await listEvents()).at(-1)).toEqual({
      kind: 'spec.restored',
      story_id: story.id,
      data: { version: 3, restoredVersion: 1 },
    });
  });

  it('changes nothing where the content is current, under whatever version', async () => {
    await write('a\n');
    await write('b\n');
    const current = await write('a\n');
    for (const version of [1, 3]) {
      expect((await people.chloe.storySpec.restore({ storyId: story.id, version })).spec).toEqual(current);
    }
    expect(await listEvents()).toHaveLength(3);
  });

  it('knows no version that was never written', async () => {
    await expect(people.chloe.storySpec.restore({ storyId: story.id, version: 1 })).rejects.toMatchObject({
      status: 404,
    });
    await expect(people.dan.storySpec.restore({ storyId: story.id, version: 1 })).rejects.toMatchObject({
      status: 403,
    });
  });
});

it('lets nobody rewrite a version, not even the service', async () => {
  await write('a\n');
  const client = await world.database.app.connect();
  try {
    await client.query('begin');
    await client.query(`select set_config('muster.org_id', $1, true)`, [people.orgId]);
    await expect(client.query(`update story_specs set content = 'b'`)).rejects.toMatchObject({
      code: '42501',
    });
  } finally {
    await client.query('rollback');
    client.release();
  }
});
