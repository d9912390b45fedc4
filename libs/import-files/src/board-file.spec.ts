import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { InvalidBoardFile, readBoardFile } from './board-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-board-'));
});
afterAll(() => rm(folder, { recursive: true }));

const write = async (name: string, text: string | Buffer): Promise<string> => {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
};

it('reads a board with the specs beside it, and names the fields that no board has', async () => {
  await write('queue.md', '# The queue');
  const file = await write(
    'board.json',
    JSON.stringify({
      name: 'Last mile',
      people: ['Ana'],
      epics: [{ localId: 'sync', title: 'Offline first', targetDate: '2026-12-01' }],
      stories: [
        {
          ...{
            localId: 'queue',
            title: 'A queue',
            status: 'ready',
            epicLocalId: 'sync',
            specFile: 'queue.md',
          },
          ...{ blockedBy: ['merge'], assignee: 'Ana', descripton: 'Mistyped', dueDate: null, comments: [] },
        },
        { localId: 'merge', title: 'Merging', status: 'backlog', labels: ['core'], assignee: 'Ben' },
      ],
    }),
  );
  expect(await readBoardFile(file)).toEqual({
    path: file,
    name: 'Last mile',
    epics: [{ localId: 'sync', title: 'Offline first' }],
    stories: [
      expect.objectContaining({ localId: 'queue', labels: [] }),
      expect.objectContaining({ localId: 'merge', labels: ['core'] }),
    ],
    specs: new Map([['queue', '# The queue']]),
    leftOut: [
      { what: 'field people of the board', places: ['board'] },
      { what: 'field targetDate of an epic', places: ['epic sync'] },
      { what: 'field blockedBy of a story', places: ['story queue'] },
      { what: 'field assignee of a story', places: ['story queue', 'story merge'] },
      { what: 'field descripton of a story', places: ['story queue'] },
    ],
  });
});

it('says what is wrong with a file that is no board', async () => {
  await expect(readBoardFile(await write('text.json', 'no json'))).rejects.toThrow(InvalidBoardFile);
  await expect(readBoardFile(await write('empty.json', '{"epics": [], "stories": []}'))).rejects.toThrow(
    /is not a valid board file:[^]*stories/,
  );
});

it('reads files with a byte order mark, as editors on Windows write them', async () => {
  await write('marked.md', '\uFEFF# Marked');
  const board = {
    epics: [],
    stories: [{ localId: 'one', title: 'One', status: 'ready', specFile: 'marked.md' }],
  };
  const { specs } = await readBoardFile(await write('marked.json', `\uFEFF${JSON.stringify(board)}`));
  expect(specs.get('one')).toBe('# Marked');
});

it('reads a board that begins with a mark, and none of whose letters would be lost', async () => {
  const text = JSON.stringify({ epics: [], stories: [{ localId: 'a', title: 'Größe', status: 'ready' }] });
  const [story] = (await readBoardFile(await write('mark.json', `\uFEFF${text}`))).stories;
  expect(story?.title).toBe('Größe');
  await expect(readBoardFile(await write('latin.json', Buffer.from(text, 'latin1')))).rejects.toThrow(
    /is not UTF-8/,
  );
});
