import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
let project = 0;
/** Each spec has a project of its own. */
let key = '';
beforeAll(async () => {
  people = await muster.world.org();
});
beforeEach(async () => {
  key = `P${(project += 1)}`;
  await muster.direct(people.chloe).projects.create({ key, name: key });
});

const bring = async (name: string, content: string, ...args: string[]) => {
  const file = path.join(muster.home(), name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return muster.as(people.chloe, 'import', file, '--project', key, ...args);
};
const stories = async () => {
  const { items } = await muster.direct(people.chloe).stories.list({ projectId: key, limit: 200 });
  return items;
};

describe('issues of GitHub', () => {
  const issue = (number: number, more: object = {}) => ({
    ...{
      number,
      title: `Issue ${number}`,
      body: 'Once upon\r\na time',
      state: 'OPEN',
      labels: [{ name: 'bug' }],
    },
    url: `https://github.com/acme/web/issues/${number}`,
    ...more,
  });

  it('become stories in their order, with what is known of them, and link back', async () => {
    const text = JSON.stringify([
      issue(9, { state: 'CLOSED', stateReason: 'NOT_PLANNED' }),
      issue(7, { state: 'CLOSED', stateReason: 'COMPLETED', body: null }),
      issue(5),
      { ...issue(4), pull_request: { url: 'https://api.github.com/repos/acme/web/pulls/4' } },
    ]);
    const { code, out, err } = await bring('issues.json', text, '--format', 'github');
    expect({ code, out, err }).toEqual({
      code: 0,
      err: '',
      out: `Left out: 1 pull request.\nMade 3 (${key}-1 to ${key}-3); 0 were there already.\n`,
    });
    expect(await stories()).toEqual([
      expect.objectContaining({
        ...{ key: `${key}-1`, title: 'Issue 5', status: 'backlog', labels: ['bug'] },
        upstream: {
          ...{ provider: 'github', externalId: 'acme/web#5', url: 'https://github.com/acme/web/issues/5' },
          ...{ state: 'open', syncedAt: null },
        },
      }),
      expect.objectContaining({ key: `${key}-2`, title: 'Issue 7', status: 'done' }),
      expect.objectContaining({ key: `${key}-3`, title: 'Issue 9', status: 'canceled' }),
    ]);
    const { story } = await muster.direct(people.chloe).stories.get({ storyId: `${key}-1` });
    expect(story.description).toBe('Once upon\na time');
  });

  it('are known again by their numbers, whatever became of them and of the file', async () => {
    await bring('issues.json', JSON.stringify([issue(1)]), '--format', 'github');
    await muster.direct(people.chloe).stories.update({ storyId: `${key}-1`, title: 'Renamed here' });
    const again = await bring(
      'later.json',
      JSON.stringify([issue(2), issue(1, { title: 'Renamed there' })]),
      '--format',
      'github',
      '--json',
    );
    expect(JSON.parse(again.out)).toMatchObject({
      created: [{ place: 'issue 2', key: `${key}-2` }],
      present: [{ place: 'issue 1', key: `${key}-1` }],
      refused: [],
    });
    expect((await stories()).map(({ title }) => title)).toEqual(['Renamed here', 'Issue 2']);
  });

  it('that are none are said to be none', async () => {
    expect(await bring('odd.json', '{"number": 1}', '--format', 'github')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^muster: the file is no list of issues:/),
    });
  });
});

describe('rows of a CSV', () => {
  const text = `\ufeffSummary,Tags,Status,Story Points,Body,Reporter
"Sign in, with a passkey","auth; ux",In Progress,"2,5","Two
lines",Ana
Sign out,,To Do,,,Ben
`;

  it('become stories, by what their columns are called', async () => {
    const { code, out } = await bring('backlog.csv', text, '--format', 'csv');
    expect({ code, out }).toEqual({
      code: 0,
      out: `Left out: the columns Reporter.\nMade 2 (${key}-1 to ${key}-2); 0 were there already.\n`,
    });
    expect(await stories()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ title: 'Sign in, with a passkey', labels: ['auth', 'ux'] },
          ...{ status: 'in_progress', estimate: 2.5, upstream: null },
        }),
        expect.objectContaining({ title: 'Sign out', labels: [], status: 'ready', estimate: null }),
      ]),
    );
  });

  it('are not made twice, also when rows were added before them; two equal rows are two stories', async () => {
    const twice = 'title\nSame\nSame\n';
    await bring('twice.csv', twice, '--format', 'csv');
    const again = await bring('more.csv', 'title\nNew\nSame\nSame\n', '--format', 'csv', '--json');
    expect(JSON.parse(again.out)).toMatchObject({
      created: [{ place: 'line 2' }],
      present: [{ key: `${key}-1` }, { key: `${key}-2` }],
    });
    expect((await stories()).map(({ title }) => title)).toEqual(['Same', 'Same', 'New']);
  });

  it('are known by their id where they have one', async () => {
    await bring('ids.csv', 'id,title\n17,Before\n', '--format', 'csv');
    const again = await bring('ids.csv', 'id,title\n17,Afterwards\n', '--format', 'csv', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ created: [], present: [{ key: `${key}-1` }] });
  });

  it('that do not fit are refused by their line, and the others go on', async () => {
    const { code, out, err } = await bring(
      'holes.csv',
      'name,labels,priority\n,a,high\nFine,a,urgent\nOdd,a,asap\n',
      '--format',
      'csv',
    );
    expect({ code, err }).toEqual({ code: 3, err: 'muster: 2 of 3 were refused\n' });
    expect(out).toMatch(/^line 2: title: must not be empty\nline 4: priority: [^\n]+\nMade 1 /);
    expect(await stories()).toHaveLength(1);
  });

  it('can be tried without changing anything, and without an API', async () => {
    const file = path.join(muster.home(), 'try.csv');
    await writeFile(file, 'What,Kind\nOne,a\n,b\n');
    const tried = await muster.run(
      [
        'import',
        file,
        '--project',
        key,
        '--format',
        'csv',
        '--map',
        'title=What',
        '--map',
        'labels=Kind',
        '--dry-run',
      ],
      {},
    );
    expect(tried).toEqual({
      code: 3,
      out: 'line 3: title: must not be empty\n1 of 2 would be brought in; nothing was changed.\n',
      err: 'muster: 1 of 2 were refused\n',
    });
    expect(await stories()).toEqual([]);
  });

  it('need a title', async () => {
    expect(await bring('odd.csv', 'a,b\n1,2\n', '--format', 'csv')).toMatchObject({
      code: 2,
      err: 'muster: no column is the title (there are a, b): --map title=<column> says which\n',
    });
  });

  it('stop where the project cannot be written, and say how far they came', async () => {
    const stopped = await muster.as(
      people.dan,
      ...['import', path.join(muster.home(), 'backlog.csv'), '--project', key, '--format', 'csv'],
    );
    expect(stopped).toMatchObject({ code: 3, out: expect.stringContaining('Made 0;') });
  });
});

describe('a board file', () => {
  const board = (...titles: string[]) =>
    JSON.stringify({
      name: 'Last mile',
      epics: [{ localId: 'e', title: 'Offline first' }],
      stories: titles.map((title, place) => ({
        ...{ localId: `s${place}`, title, status: 'ready', epicLocalId: 'e', specFile: 'board/spec.md' },
      })),
    });

  it('becomes a project with its specs, once', async () => {
    await mkdir(path.join(muster.home(), 'board'), { recursive: true });
    await writeFile(path.join(muster.home(), 'board/spec.md'), '# A queue');
    key = 'BOARD';
    const first = await bring('board.json', board('A queue', 'Merging'), '--format', 'board');
    expect(first).toEqual({
      code: 0,
      err: '',
      out: 'Brought in 2 stories and 1 epic as the project Last mile (BOARD).\n',
    });
    expect(await bring('board.json', board('A queue', 'Merging'), '--format', 'board')).toEqual(first);
    expect((await stories()).map(({ title, status }) => ({ title, status }))).toEqual([
      { title: 'A queue', status: 'ready' },
      { title: 'Merging', status: 'ready' },
    ]);
    const { spec } = await muster.direct(people.chloe).storySpec.get({ storyId: 'BOARD-1' });
    expect(spec.content).toBe('# A queue');
  });

  it('that does not fit is refused as a whole, by the names that its stories have', async () => {
    const refused = await bring('bad.json', board('Fine', ''), '--format', 'board', '--dry-run');
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/does not fit:\n {2}story s1, stories\.1\.title: must not be empty\n$/),
    });
  });
});
