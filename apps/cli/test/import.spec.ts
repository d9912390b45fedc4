import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { openForwarder } from './forwarder.ts';
import { useMuster } from './muster.ts';
import { itOnTerminal, openTerminal } from './terminal.ts';

const muster = useMuster();

let people: People;
let projectCount = 0;
/** The key of the project, which each spec creates for itself. */
let key = '';
beforeAll(async () => {
  people = await muster.world.org();
});
beforeEach(async () => {
  key = `P${(projectCount += 1)}`;
  await muster.apiClient(people.chloe).projects.create({ key, name: key });
});

const writeInputFile = async (name: string, content: string): Promise<string> => {
  const file = path.join(muster.home(), name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
};
const runImport = async (format: string, name: string, content: string, ...args: string[]) =>
  muster.runAs(
    people.chloe,
    'import',
    format,
    await writeInputFile(name, content),
    '--project',
    key,
    ...args,
  );
const listStories = async () => {
  const { items } = await muster.apiClient(people.chloe).stories.list({ projectId: key, limit: 200 });
  return items;
};

const csvHead = 'ID,Title,Status,Project,Labels,Blocked by,Assignee,Created\n';
const linear = (...rows: string[]) => `${csvHead}${rows.join('\n')}\n`;

describe('muster import', () => {
  it('says of what is no file that it cannot be read', async () => {
    for (const file of [muster.home(), path.join(muster.home(), 'gone.csv')])
      expect(await muster.runAs(people.chloe, 'import', 'linear', file, '--project', key)).toMatchObject({
        ...{ code: 2, err: expect.stringContaining(`${file} cannot be read: `) },
      });
  });

  it('takes no file whose letters it would lose', async () => {
    const file = await writeInputFile('latin.csv', '');
    await writeFile(file, linear('ENG-1,Größe,Todo,,,,,2024-03-01'), 'latin1');
    expect(await muster.runAs(people.chloe, 'import', 'linear', file, '--project', key)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('latin.csv: the file is not UTF-8') },
    });
    expect(await listStories()).toEqual([]);
  });

  it('shows where statuses go, brings all in, and says what it left out', async () => {
    const text = linear(
      'ENG-2,Sign out,Todo,,,,,2024-03-02',
      'ENG-1,Sign in,In Progress,Accounts,"bug, auth",ENG-2,chloe@example.com,2024-03-01',
      'ENG-3,Gone,Canceled,,,ENG-9,Zed,2024-03-03',
    );
    const { code, out, err } = await runImport('linear', 'export.csv', text);
    const { items: imports } = await muster.apiClient(people.chloe).imports.list({ projectId: key });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(`3 items, 0 comments, 1 epic.

STATUS IN FILE  ITEMS  IN MUSTER
Todo            1      ready
In Progress     1      column In progress
Canceled        1      canceled

The CSV export of Linear has no comments; export from the Linear API to import them.
Left out: assignee without an e-mail address (1: ENG-3)
ENG-3 does not wait for ENG-9: No imported item of this provider has this id.
Created 3 (${key}-1 to ${key}-3), updated 0, kept 0; 0 unchanged.
To undo it: muster imports undo --import-id ${imports[0]?.id ?? ''}
`);
    const [second, first] = (await listStories()).filter(({ status }) => status !== 'canceled');
    expect([first, second].map((story) => story?.title).sort()).toEqual(['Sign in', 'Sign out']);
    const { story } = await muster.apiClient(people.chloe).stories.get({ storyId: `${key}-2` });
    const { story: blocker } = await muster.apiClient(people.chloe).stories.get({ storyId: `${key}-1` });
    expect(story).toMatchObject({
      ...{ title: 'Sign in', status: 'in_progress', labels: ['bug', 'auth'], blockedBy: [blocker.id] },
      ...{ createdAt: '2024-03-01T00:00:00.000Z', upstream: { provider: 'linear', externalId: 'ENG-1' } },
    });
  });

  it('again changes nothing; later it follows the file, unless a story was changed here', async () => {
    await runImport('linear', 'a.csv', linear('A-1,One,Todo,,,,,', 'A-2,Two,Todo,,,,,'));
    const again = await runImport('linear', 'renamed.csv', linear('A-1,One,Todo,,,,,', 'A-2,Two,Todo,,,,,'));
    expect(again.out).toContain('Created 0, updated 0, kept 0; 2 unchanged.\n');
    await muster.apiClient(people.chloe).stories.update({ storyId: `${key}-2`, title: 'Mine' });
    const changed = linear('A-1,One more,Todo,,,,,', 'A-2,Two more,Todo,,,,,');
    const later = await runImport('linear', 'a.csv', changed);
    expect(later.out).toContain(
      `Kept ${key}-2 (A-2): The story was changed in Muster since the last import.\n`,
    );
    expect(later.out).toContain(
      'Created 0, updated 1, kept 1; 0 unchanged.\nStories that were changed in Muster were kept. Use --theirs',
    );
    const theirs = await runImport('linear', 'a.csv', changed, '--theirs', '--json');
    expect(JSON.parse(theirs.out)).toMatchObject({ created: 0, updated: 1, unchanged: 1, kept: [] });
    expect((await listStories()).map(({ title }) => title).sort()).toEqual(['One more', 'Two more']);
  });

  it('changes nothing while a status has no place, and says how it gets one', async () => {
    const text = linear("A-1,One,QA's,,,,,", 'A-2,Two,Todo,,,,,');
    // Linear's export has the kinds of its statuses. A CSV file does not.
    const { code, err, out } = await runImport('csv', 'odd.csv', text);
    expect(code).toBe(2);
    expect(out).toMatch(/QA's +1 +\?\n/);
    expect(err).toContain(
      String.raw`1 status has no matching column on the board: QA's. Map each one, for example --status 'QA'\''s=in_review'`,
    );
    expect(await listStories()).toEqual([]);
    const placed = await runImport('csv', 'odd.csv', text, '--status', "QA's=In review");
    expect(placed).toMatchObject({ code: 0, err: '' });
    expect((await listStories()).map(({ status }) => status).sort()).toEqual(['in_review', 'ready']);
  });

  it('goes on with the next run where it was cut off, and finishes what waits for what', async () => {
    const rows = Array.from({ length: 450 }, (_, place) => `A-${place},Story ${place},Todo,,,A-449,,`);
    const file = await writeInputFile('many.csv', linear(...rows));
    const forwarder = await openForwarder(muster.url());
    const env = { MUSTER_BASE_URL: forwarder.url, MUSTER_TOKEN: people.chloe.me.token };
    const child = muster.start(['import', 'linear', file, '--project', key], { env });
    await forwarder.waitForRequests('/api/imports/put', 2);
    child.kill('SIGKILL');
    await child.exitCode;
    await forwarder.goOffline();
    const [open] = (await muster.apiClient(people.chloe).imports.list({ projectId: key })).items;
    expect(open?.state).toBe('open');
    const { code, out } = await muster.runAs(people.chloe, 'import', 'linear', file, '--project', key);
    expect(code).toBe(0);
    expect(out).toContain('Resumed an unfinished import.');
    const { items } = await muster.apiClient(people.chloe).imports.list({ projectId: key });
    expect(items).toMatchObject([{ id: open?.id, state: 'finished' }]);
    const all: { blockedBy: readonly string[] }[] = [];
    for await (const story of muster
      .apiClient(people.chloe)
      .stories.list.all({ projectId: key, limit: 200 })) {
      all.push(story);
    }
    expect(all).toHaveLength(450);
    expect(all.filter(({ blockedBy }) => blockedBy.length === 1)).toHaveLength(449);
  });

  itOnTerminal('shows on a terminal how far it is, within 80 columns', async () => {
    const rows = Array.from(
      { length: 250 },
      (_, place) => `A-${place},Story,Todo,,,,Somebody without an address,`,
    );
    const terminal = openTerminal(
      ['import', 'linear', await writeInputFile('terminal.csv', linear(...rows)), '--project', key],
      { HOME: muster.home(), ...muster.environmentOf(people.chloe) },
      80,
    );
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screenText()).toMatch(
      /\r\[#{24}\.{6}\] 200 of 250, \d+ s left\u001b\[K\r\[#{30}\] 250 of 250\u001b\[K\r\u001b\[K/,
    );
    for (const line of terminal.screenText().split(/[\r\n]/)) {
      expect(line.replaceAll('\u001b[K', '').length).toBeLessThanOrEqual(80);
    }
  });

  it('stops where the project cannot be written, and says how far it came', async () => {
    const file = await writeInputFile('one.csv', linear('A-1,One,Todo,,,,,'));
    const stopped = await muster.runAs(people.dan, 'import', 'linear', file, '--project', key);
    expect(stopped).toMatchObject({ code: 3, out: expect.stringContaining('Created 0, ') });
    expect(stopped.err).toContain('role');
  });

  it('can be tried without changing anything, and without an API', async () => {
    const file = await writeInputFile('try.csv', 'What,Kind\nOne,a\n,b\n');
    const flags = ['--project', key, '--map', 'title=What', '--map', 'labels=Kind', '--dry-run'];
    const tried = await muster.run(['import', 'csv', file, ...flags], {});
    expect(tried).toEqual({
      code: 3,
      out: '1 item, 0 comments, 0 epics.\nNo item has a status, so all go to the backlog.\nline 3: title: must not be empty\nNothing was changed.\n',
      err: 'muster: 1 item was refused\n',
    });
    expect(await listStories()).toEqual([]);
    const unread = await muster.run(['import', 'trello', file, '--project', key, '--dry-run'], {});
    expect(unread).toMatchObject({ code: 2, err: `muster: ${file}: the file is not valid JSON\n` });
  });

  it('reads issues of GitHub from stdin, with their comments', async () => {
    const issue = (number: number, more: object = {}) => ({
      ...{
        number,
        title: `Issue ${number}`,
        state: 'OPEN',
        url: `https://github.com/acme/web/issues/${number}`,
      },
      ...more,
    });
    const comments = [{ id: 'IC', author: { login: 'zed' }, body: 'Hm', createdAt: '2024-01-01T00:00:00Z' }];
    const input = JSON.stringify([issue(9, { comments }), issue(7)]);
    const { code } = await muster.run(['import', 'github', '-', '--project', key], {
      env: muster.environmentOf(people.chloe),
      input,
    });
    expect(code).toBe(0);
    expect((await listStories()).map(({ title }) => title)).toEqual(['Issue 7', 'Issue 9']);
    const { items } = await muster.apiClient(people.chloe).comments.list({ storyId: `${key}-2` });
    expect(items).toMatchObject([
      { body: 'Hm', author: { name: 'zed', memberId: null }, createdAt: '2024-01-01T00:00:00.000Z' },
    ]);
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
    const first = await runImport('board', 'board.json', board('A queue', 'Merging'));
    expect(first).toEqual({
      code: 0,
      err: '',
      out: 'Imported 2 stories and 1 epic as the project Last mile (BOARD).\n',
    });
    expect(await runImport('board', 'board.json', board('A queue', 'Merging'))).toEqual(first);
    expect((await listStories()).map(({ title, status }) => ({ title, status }))).toEqual([
      { title: 'A queue', status: 'ready' },
      { title: 'Merging', status: 'ready' },
    ]);
    const { spec } = await muster.apiClient(people.chloe).storySpec.get({ storyId: 'BOARD-1' });
    expect(spec.content).toBe('# A queue');
  });

  it('that does not fit is refused as a whole, by the names that its stories have', async () => {
    const refused = await runImport('board', 'bad.json', board('Fine', ''), '--dry-run');
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/is invalid:\n {2}story s1, stories\.1\.title: must not be empty\n$/),
    });
  });
});
