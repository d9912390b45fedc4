import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type People, useWorld } from '@muster/testing';
import { arrangeBoard, type Board } from '../../../test/board.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';

const world = useWorld({ stories, epics, comments, storySpec });

let people: People;
let board: Board;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
});

/** What is found by what, and which write of the row it was. */
const documents = async () =>
  world.rows<{ id: string; kind: string; project_id: string | null; keys: string; xmin: string }>(
    `select id, kind, project_id, keys::text, xmin::text from search_documents where org_id = $1 order by id, kind`,
    people.orgId,
  );
const words = async () =>
  world.rows(
    `select distinct word, slips::text from search_words where org_id = $1 order by word`,
    people.orgId,
  );

const arrange = async () => {
  const { epic } = await people.ana.epics.create({
    projectId: board.key,
    title: 'Copper',
    description: 'All of it',
  });
  const { story } = await people.ana.stories.create({
    ...{
      projectId: board.key,
      title: 'Überprüfung of copper',
      description: 'Wires, 認証',
      labels: ['Metal works', "it's"],
    },
    ...{ epicId: epic.id, spec: 'First' },
  });
  const { comment } = await people.ana.comments.create({ storyId: story.id, body: 'Which wires?' });
  return { storyId: story.id, commentId: comment.id, epicId: epic.id };
};

describe('the documents of a search', () => {
  it('are not written by what no record is found by', async () => {
    const { storyId, commentId, epicId } = await arrange();
    const before = await documents();
    await people.ana.stories.updateStatus({ storyId, status: 'ready' });
    await people.ana.stories.reorder({ storyId });
    await people.ana.stories.update({ storyId, priority: 'high', title: 'Überprüfung of copper' });
    await people.ana.comments.react({ commentId, emoji: '👍' });
    await people.ana.comments.resolve({ commentId });
    await people.ana.epics.update({ epicId, status: 'done' });
    expect(await documents()).toEqual(before);
    await people.ana.stories.update({ storyId, labels: [] });
    expect(await documents()).not.toEqual(before);
  });

  it('are written by the migration, of what was there, as by each write', async () => {
    const { storyId, commentId } = await arrange();
    await people.ana.storySpec.update({ storyId, content: 'Second' });
    const reply = await people.ana.comments.create({ storyId, body: 'All', parentId: commentId });
    await people.ana.comments.create({ storyId, body: 'None', parentId: commentId });
    await people.ana.comments.delete({ commentId });
    await people.ana.comments.update({ commentId: reply.comment.id, body: 'Some' });
    const withoutWrite = async () => (await documents()).map(({ xmin: _write, ...document }) => document);
    const before = await withoutWrite();
    expect(before).toHaveLength(4 + 5);
    const known = await words();
    const file = await readFile(
      new URL('../../../../database/migrations/0016_search.sql', import.meta.url),
      'utf8',
    );
    const [, backfill = ''] = /^-- What there is\..*?\n(.*?^reset role;)/msu.exec(file) ?? [];
    await world.database.owner.query(
      `begin; delete from search_documents; delete from search_words; ${backfill}; commit`,
    );
    expect(await withoutWrite()).toEqual(before);
    // Those of texts that were written over are not known to it.
    expect(known).toEqual(expect.arrayContaining(await words()));
    expect(await words()).toContainEqual(expect.objectContaining({ word: 'uberprufung' }));
  });

  it('know a word that two write at once, and neither waits', async () => {
    const make = (title: string) => people.ana.stories.create({ projectId: board.key, title });
    await Promise.all(['Palimpsest one', 'Palimpsest two', 'Palimpsest three'].map(make));
    expect(await words()).toContainEqual(expect.objectContaining({ word: 'palimpsest' }));
  });
});
