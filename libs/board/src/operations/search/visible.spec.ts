import { beforeEach, describe, expect, it } from '@jest/globals';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { comments } from '../comments/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { search } from './handlers.ts';

const world = useWorld({ search, stories, comments });

let people: PeopleOf<typeof world>;
let openBoard: TestBoard;
let hiddenBoard: TestBoard;
beforeEach(async () => {
  people = await world.org();
  openBoard = await arrangeBoard(world, people.orgId);
  hiddenBoard = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
});

const story = async (board: TestBoard, title: string) =>
  (await people.ana.stories.create({ projectId: board.key, title, spec: `${title} in words` })).story;
const find = async (who: PersonOf<typeof world>, query: string, more: object = {}) =>
  (await who.search.find({ query, kinds: ['story', 'epic', 'spec', 'comment'], ...more })).items;

describe('what search.find shows', () => {
  it('is what the caller may see at that moment', async () => {
    const { id: storyId } = await story(hiddenBoard, 'Copper');
    await people.ana.comments.create({ storyId, body: 'Copper?' });
    expect(await find(people.ana, 'copper')).toHaveLength(3);
    for (const query of ['copper', 'coper', 'opp', 'HID-1', '1', 'cop'])
      expect([query, await find(people.dan, query)]).toEqual([query, []]);
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'viewer')`,
      ...[people.orgId, hiddenBoard.projectId, people.dan.me.memberId],
    );
    expect(await find(people.dan, 'copper')).toHaveLength(3);
    await world.rows(
      `delete from project_members where org_id = $1 and project_id = $2`,
      people.orgId,
      hiddenBoard.projectId,
    );
    expect(await find(people.dan, 'copper')).toEqual([]);
    await world.rows(`update projects set deleted_at = now() where id = $1`, hiddenBoard.projectId);
    expect(await find(people.ana, 'copper')).toEqual([]);
  });

  it('is the same, byte for byte, whatever stands in projects that the caller does not see', async () => {
    await story(openBoard, 'Copper pipes');
    await story(openBoard, 'They receive copper');
    const queries = ['copper', 'coper', 'recieve', 'rece', 'pipes copper', 'eceiv'];
    const answers = async () => Promise.all(queries.map((query) => people.dan.search.find({ query })));
    const before = await answers();
    for (const title of ['Copper', 'coper', 'Recieve', 'Deceive', 'Copper pipes', 'Coppers'])
      await story(hiddenBoard, title);
    expect(await answers()).toEqual(before);
    // The answers stay unchanged even if there are more hidden documents than a search examines or reads from
    // the index.
    await world.rows(
      `insert into search_documents (org_id, id, kind, project_id, keys)
       select $1, uuidv7(), 'comment', $2, array_to_tsvector(app.text_keys($1, array['copper', 'receive', 'pipes'])) from generate_series(1, 2000)`,
      ...[people.orgId, hiddenBoard.projectId],
    );
    expect(await answers()).toEqual(before);
  });

  it('is of the projects that a token is bound to', async () => {
    await story(openBoard, 'Copper');
    await story(hiddenBoard, 'Copper');
    const bound = await world.token(people.orgId, people.ana.me.memberId, {
      projectIds: [hiddenBoard.projectId],
    });
    expect(new Set((await find(bound, 'copper')).map(({ projectId }) => projectId))).toEqual(
      new Set([hiddenBoard.projectId]),
    );
    await expect(find(bound, 'copper', { projectId: openBoard.key })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is of one project where that is named, and then no member', async () => {
    await story(openBoard, 'Ana');
    await story(hiddenBoard, 'Ana');
    const items = async (params: object) => (await people.ana.search.find({ query: 'ana', ...params })).items;
    expect((await items({ projectId: 'hid' })).map(({ type, key }) => [type, key])).toEqual([
      ['story', 'HID-1'],
      ['spec', 'HID-1'],
    ]);
    expect((await items({})).map(({ type }) => type)).toContain('member');
    await expect(people.dan.search.find({ query: 'ana', projectId: 'HID' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(people.dan.search.find({ query: 'ana', projectId: 'NONE' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is of the own organization', async () => {
    await story(openBoard, 'Copper');
    const others = await world.org();
    expect((await others.ana.search.find({ query: 'copper' })).items).toEqual([]);
    expect((await others.ana.search.find({ query: 'coper' })).items).toEqual([]);
    // The index must not answer a document of another organization with the same keys and score.
    const older = (orgId: string, kind: string, projectId: string | null, hours: number, count: number) =>
      world.rows(
        `insert into search_documents (org_id, id, kind, project_id, keys)
         select $1, uuidv7(make_interval(hours => -$5::int)), $3, $4, array_to_tsvector(app.title_keys($2, 'Iron', array['iron'], '')) from generate_series(1, $6::int)`,
        ...[orgId, people.orgId, kind, projectId, hours, count],
      );
    await older(people.orgId, 'comment', hiddenBoard.projectId, 1, 600);
    await older(others.orgId, 'member', null, 2, 1);
    expect((await people.dan.search.find({ query: 'iron' })).items).toEqual([]);
  });
});
