import { beforeEach, describe, expect, it } from '@jest/globals';
import { boardRegistry } from '@muster/board-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { search } from './handlers.ts';

const world = useWorld({ search, stories, epics, comments, storySpec });

let people: PeopleOf<typeof world>;
let board: TestBoard;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
});

const story = async (title: string, more: object = {}) =>
  (await people.ana.stories.create({ projectId: board.key, title, ...more })).story;
const find = async (query: string, more: object = {}) =>
  (await people.ana.search.find({ query, ...more })).items;
const findTitles = async (query: string, more: object = {}) =>
  (await find(query, { kinds: ['story'], ...more })).map(({ title }) => title);

describe('search.find', () => {
  it('finds stories, epics, specs, comments and members, each with what it is', async () => {
    const { id: storyId } = await story('Lanterns', { description: 'Paper ones' });
    const { epic } = await people.ana.epics.create({ projectId: board.key, title: 'All lanterns' });
    await people.ana.storySpec.update({ storyId, content: '# Light\n\nEach of the lanterns burns.' });
    const { comment } = await people.ana.comments.create({ storyId, body: 'Whose lanterns are these?' });
    const { projectId } = board;
    const answer = await people.ana.search.find({ query: 'lanterns' });
    expect(boardRegistry.search.find.result.parse(answer)).toEqual(answer);
    const ofStory = { key: 'WEB-1', title: 'Lanterns', projectId };
    expect(answer.items).toEqual([
      { type: 'story', id: storyId, ...ofStory, snippet: '⟦Lanterns⟧', score: 0.9 },
      {
        ...{ type: 'epic', id: epic.id, key: null, title: 'All lanterns', projectId },
        ...{ snippet: 'All ⟦lanterns⟧', score: 0.7 },
      },
      { type: 'comment', id: comment.id, ...ofStory, snippet: 'Whose ⟦lanterns⟧ are these?', score: 0.5 },
      { type: 'spec', id: storyId, ...ofStory, snippet: '# Light Each of the ⟦lanterns⟧ burns.', score: 0.5 },
    ]);
    const { me } = people.chloe;
    expect(await find(me.name)).toEqual([
      {
        type: 'member',
        id: me.memberId,
        key: null,
        title: me.name,
        snippet: `@⟦${me.handle}⟧`,
        projectId: null,
        score: 0.9,
      },
    ]);
    expect(await find('lanterns', { kinds: ['epic', 'spec'] })).toMatchObject([
      { type: 'epic' },
      { type: 'spec' },
    ]);
  });

  it('puts the story of a key first, then a number alone, whatever else has it', async () => {
    await story('See WEB-2 and WEB-3');
    await story('Second');
    await story('2 things');
    expect(await find('web-2')).toMatchObject([
      { key: 'WEB-2', score: 1 },
      { key: 'WEB-1', score: expect.any(Number) },
    ]);
    expect(await find('2')).toMatchObject([
      { key: 'WEB-2', score: 0.95 },
      { key: 'WEB-3' },
      { key: 'WEB-1' },
    ]);
    expect(await find('WEB-')).toHaveLength(3);
    expect(await find('WEB-999999999')).toEqual([]);
    expect(await find('999999999999')).toEqual([]);
  });

  it('finds the stories whose key begins like the one that was typed, the newest first, where the caller may see them', async () => {
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    await people.ana.stories.create({ projectId: hidden.key, title: 'Hidden' });
    for (let nth = 1; nth <= 21; nth += 1) await story('Rope');
    const keys = async (query: string, more: object = {}) =>
      (await find(query, more)).map(({ key, score }) => [key, score]);
    expect(await keys('web-2')).toEqual([
      ['WEB-2', 1],
      ['WEB-21', 0.8],
      ['WEB-20', 0.8],
    ]);
    expect(await keys('WEB-', { limit: 2 })).toEqual([
      ['WEB-21', 0.8],
      ['WEB-20', 0.8],
    ]);
    expect(await keys('WEB-3')).toEqual([['WEB-3', 1]]);
    expect(await keys('HID-')).toEqual([['HID-1', 0.8]]);
    for (const query of ['HID-', 'HID-1'])
      expect((await people.dan.search.find({ query })).items).toEqual([]);
  });

  it('puts whole titles before their beginnings, those before words in them, and texts last', async () => {
    await story('Elsewhere', { description: 'Of the door handle' });
    await story('Handle of a door');
    await story('Door handle, painted');
    await story('Paint a door handle');
    await story('Door handle');
    expect(await findTitles('door handle')).toEqual([
      ...['Door handle', 'Door handle, painted', 'Paint a door handle', 'Handle of a door', 'Elsewhere'],
    ]);
    expect(await findTitles('door han')).toEqual([
      ...['Door handle', 'Door handle, painted', 'Paint a door handle', 'Handle of a door', 'Elsewhere'],
    ]);
    expect(await findTitles('do handle')).toEqual([]);
    expect(await findTitles('door knob')).toEqual([]);
  });

  it('finds what was mistyped by a letter more, less, another one, or two that changed places', async () => {
    await story('They receive the form');
    for (const typed of ['recieve', 'recive', 'receeive', 'rexeive', 'eceive', 'recieve frm', 'RECIEVE'])
      expect([typed, ...(await findTitles(typed))]).toEqual([typed, 'They receive the form']);
    const [found] = await find('recieve');
    expect(found).toMatchObject({ snippet: 'They ⟦receive⟧ the form', score: 0.2 });
    expect(await findTitles('rcv')).toEqual([]);
    // An exact match suppresses corrected spellings.
    await story('A recieve as it stands');
    expect(await findTitles('recieve')).toEqual(['A recieve as it stands']);
    const { id } = await story('Other', { description: 'An authentication of two steps' });
    expect(await find('authentification')).toMatchObject([{ id, score: 0.1 }]);
  });

  it('finds letters inside of the words of a title', async () => {
    await story('Reauthenticate first');
    expect(await findTitles('thent')).toEqual(['Reauthenticate first']);
  });

  it('finds words of paths, identifiers and addresses', async () => {
    await story('Move src/auth/login-form.ts', {
      description: 'See https://example.com/a_b?c=d',
      labels: ['Backend'],
    });
    for (const typed of ['auth/login', 'login-form', 'LOGIN', 'example.com', 'a_b', 'backend'])
      expect([typed, ...(await findTitles(typed))]).toEqual([typed, 'Move src/auth/login-form.ts']);
  });

  it.each([
    ['accents, either way', 'Überprüfung der Straße', ['uberprufung', 'ÜBERPRÜFUNG', 'strasse']],
    ['Cyrillic', 'Проверка входа', ['проверка', 'ВХОДА', 'пров']],
    ['Japanese, which has no spaces', 'ユーザー認証の修正', ['認証', '修正', 'ユーザー', '認']],
    ['Chinese', '修复登录页面', ['登录', '页面', '录页']],
    ['Korean', '로그인 오류', ['로그인', '로그']],
    ['Arabic', 'إصلاح تسجيل الدخول', ['تسجيل']],
    ['Hindi', 'लॉगिन की जाँच', ['लॉगिन']],
  ])('finds words in %s', async (_what, title, queries) => {
    await story(title);
    await story('Something else');
    for (const typed of queries) expect([typed, ...(await findTitles(typed))]).toEqual([typed, title]);
  });

  it('finds emoji, alone, beside words and within them', async () => {
    await story('Release 🎉 party');
    await story('Launch🚀now');
    await story('❤️ for 👩‍💻');
    expect(await findTitles('🎉')).toEqual(['Release 🎉 party']);
    expect(await findTitles('party 🎉')).toEqual(['Release 🎉 party']);
    expect(await findTitles('🚀')).toEqual(['Launch🚀now']);
    expect(await findTitles('launch')).toEqual(['Launch🚀now']);
    expect(await findTitles('❤')).toEqual(['❤️ for 👩‍💻']);
    expect(await findTitles('👩‍💻')).toEqual(['❤️ for 👩‍💻']);
    for (const query of ['🎉🎉', '👍🏽', '🇩🇪', '🎉 nothing', '!🎉', "'🎉' | 🚀"])
      expect(await findTitles(query)).toBeDefined();
    expect(await findTitles('🍕')).toEqual([]);
  });

  it('finds nothing by what is no word', async () => {
    await story('What?');
    for (const typed of ['?', ' ', "' | !", '\\', ':*', '%', '""', '😀'])
      expect(await find(typed)).toEqual([]);
    expect(await findTitles("what' & !x")).toEqual([]);
  });

  it('finds a renamed story by its new name alone, and a changed text by what it says now', async () => {
    const { id: storyId } = await story('Copper', { description: 'Copper wire', spec: 'Copper all along' });
    const { comment } = await people.ana.comments.create({ storyId, body: 'Copper?' });
    expect(await find('copper')).toHaveLength(3);
    await people.ana.stories.update({ storyId, title: 'Silver', description: null });
    await people.ana.storySpec.update({ storyId, content: 'Silver all along' });
    await people.ana.comments.update({ commentId: comment.id, body: 'Silver?' });
    expect(await find('copper')).toEqual([]);
    expect(await find('coper')).toEqual([]);
    expect((await find('silver')).map(({ type }) => type)).toEqual(['story', 'comment', 'spec']);
  });

  it('finds no more what was deleted', async () => {
    const { id: storyId } = await story('Copper', { spec: 'Copper all along' });
    const { epic } = await people.ana.epics.create({ projectId: board.key, title: 'Copper' });
    const { comment } = await people.ana.comments.create({ storyId, body: 'Copper?' });
    const reply = await people.ana.comments.create({ storyId, body: 'Copper!', parentId: comment.id });
    await people.ana.comments.delete({ commentId: comment.id });
    expect(await find('copper', { kinds: ['comment'] })).toMatchObject([{ id: reply.comment.id }]);
    await people.ana.epics.delete({ epicId: epic.id });
    await people.ana.stories.delete({ storyId });
    expect(await find('copper')).toEqual([]);
    expect(
      await world.rows(`select from search_documents where org_id = $1 and kind <> 'member'`, people.orgId),
    ).toEqual([]);
    const { memberId, name } = people.chloe.me;
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      people.orgId,
      memberId,
    );
    expect(await find(name)).toEqual([]);
  });

  it('searches the first 20,000 characters of a long text', async () => {
    const { id: storyId } = await story('Long');
    await people.ana.storySpec.update({
      storyId,
      content: `early ${'x '.repeat(500)}middle ${'-'.repeat(19_000)} late`,
    });
    expect(await find('early')).toMatchObject([{ type: 'spec' }]);
    expect((await find('middle'))[0]?.snippet).toMatch(/^….*x ⟦middle⟧ -/);
    expect(await find('late')).toEqual([]);
  });

  it('finds what is older than the newest that are looked through, and what lies at their end', async () => {
    await story('Copper', { spec: 'Copper all along' });
    const newer = (count: number) =>
      world.rows(
        `insert into search_documents (org_id, id, kind, project_id, keys)
         select $1, uuidv7(interval '1 hour'), 'comment', $2, array_to_tsvector(app.text_keys($1, array['iron'])) from generate_series(1, $3::int)`,
        ...[people.orgId, board.projectId, count],
      );
    const types = async (query: string) => (await find(query)).map(({ type }) => type);
    for (const count of [497, 1, 1, 1, 1, 1, 500]) {
      await newer(count);
      expect([await types('copper'), await types('coper'), await types('oppe')]).toEqual([
        ['story', 'spec'],
        ['story', 'spec'],
        ['story'],
      ]);
    }
  });

  it('answers 50 records, and as many as are asked for up to 200', async () => {
    for (let nth = 1; nth <= 52; nth += 1) await story('Rope');
    expect(await findTitles('rope')).toHaveLength(50);
    expect(await findTitles('rope', { limit: 200 })).toHaveLength(52);
  });

  it('refuses what is no query', async () => {
    for (const params of [
      { query: '' },
      { query: 'x'.repeat(201) },
      { query: 'x', limit: 201 },
      { query: 'x', kinds: [] },
    ])
      await expect(people.ana.search.find(params)).rejects.toMatchObject({ code: 'bad_request' });
  });
});
