import { beforeEach, describe, expect, it } from '@jest/globals';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';

const world = useWorld({ stories, epics, comments, storySpec });

let people: PeopleOf<typeof world>;
let board: TestBoard;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
});

/** Reads the search documents with their keys and the transaction that last wrote each row. */
const readSearchDocuments = async () =>
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

/** Statements that rebuild all documents and words from the records, for empty tables. */
const fromTheRecords = [
  `insert into search_documents (org_id, id, kind, project_id, keys)
     select s.org_id, s.id, 'story', s.project_id, array_to_tsvector(app.story_keys(s.org_id, s.project_id, p.key || '-' || s.number, s.labels, s.title,
       app.words(s.title), app.words(concat_ws(' ', s.description, array_to_string(s.labels, ' ')))))
     from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
     union all
     select e.org_id, e.id, 'epic', e.project_id,
       array_to_tsvector(app.title_keys(e.org_id, e.title, app.words(e.title), '') || app.text_keys(e.org_id, app.words(e.description)))
     from epics e
     union all
     select v.org_id, v.story_id, 'spec', s.project_id, array_to_tsvector(app.text_keys(v.org_id, app.words(v.content)))
     from stories s join story_specs v on v.org_id = s.org_id and v.story_id = s.id and v.version = s.spec_version
     union all
     select c.org_id, c.id, 'comment', s.project_id, array_to_tsvector(app.text_keys(c.org_id, app.words(c.body)))
     from comments c join stories s on s.org_id = c.org_id and s.id = c.story_id where c.body is not null
     union all
     select m.org_id, m.id, 'member', null, array_to_tsvector(app.member_keys(m.org_id, m.name, app.words(m.name), m.handle, m.email))
     from members m where m.status = 'active'`,
  // search_words has only the words of titles and texts. Their keys start with a prefix of five characters.
  `insert into search_words (org_id, word, slips)
     select o.org_id, w.word, app.slips(o.org_id, w.word)
     from (select distinct d.org_id from search_documents d) o
     cross join lateral (
       select distinct substr(s.word, 6) as word
       from ts_stat(format('select keys from public.search_documents where org_id = %L', o.org_id)) s
       where substr(s.word, 5, 1) in ('t', 'b')) w
     where length(w.word) between 4 and 24 and w.word !~ '[0-9]'`,
];

describe('the documents of a search', () => {
  it('are not written by what no record is found by', async () => {
    const { storyId, commentId, epicId } = await arrange();
    const before = await readSearchDocuments();
    await people.ana.stories.updateStatus({ storyId, status: 'ready' });
    await people.ana.stories.reorder({ storyId });
    await people.ana.stories.update({ storyId, priority: 'high', title: 'Überprüfung of copper' });
    await people.ana.comments.react({ commentId, emoji: '👍' });
    await people.ana.comments.resolve({ commentId });
    await people.ana.epics.update({ epicId, status: 'done' });
    expect(await readSearchDocuments()).toEqual(before);
    await people.ana.stories.update({ storyId, labels: [] });
    expect(await readSearchDocuments()).not.toEqual(before);
  });

  it('are by each write what the records say when all are read anew', async () => {
    const { storyId, commentId } = await arrange();
    await people.ana.storySpec.update({ storyId, content: 'Second' });
    const reply = await people.ana.comments.create({ storyId, body: 'All', parentId: commentId });
    await people.ana.comments.create({ storyId, body: 'None', parentId: commentId });
    await people.ana.comments.delete({ commentId });
    await people.ana.comments.update({ commentId: reply.comment.id, body: 'Some' });
    const withoutWrite = async () =>
      (await readSearchDocuments()).map(({ xmin: _write, ...document }) => document);
    const before = await withoutWrite();
    expect(before).toHaveLength(4 + 5);
    const known = await words();
    await world.rows('delete from search_documents');
    await world.rows('delete from search_words');
    for (const statement of fromTheRecords) await world.rows(statement);
    expect(await withoutWrite()).toEqual(before);
    // The rebuilt table lacks the words that only overwritten texts contained.
    expect(known).toEqual(expect.arrayContaining(await words()));
    expect(await words()).toContainEqual(expect.objectContaining({ word: 'uberprufung' }));
  });

  it('know a word that two write at once, and neither waits', async () => {
    const make = (title: string) => people.ana.stories.create({ projectId: board.key, title });
    await Promise.all(['Palimpsest one', 'Palimpsest two', 'Palimpsest three'].map(make));
    expect(await words()).toContainEqual(expect.objectContaining({ word: 'palimpsest' }));
  });
});
