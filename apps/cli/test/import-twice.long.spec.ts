/** Tests that a repeated import changes nothing, from every source, whatever the tracker exports. */
import { beforeAll, expect, it } from '@jest/globals';
import {
  createEmptyReport,
  type FileFormat,
  fileFormats,
  importFile,
  openFile,
  createStatusMapper,
  type TextSource,
} from '@muster/import-files';
import { type People } from '@muster/testing';
import fc from 'fast-check';
import { useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
let projectCount = 0;
beforeAll(async () => {
  people = await muster.world.org();
});

interface Issue {
  readonly title: string;
  readonly status: string;
  readonly label: string | undefined;
  readonly epic: string | undefined;
  /** Positions of the blocking issues in the list. An issue may block itself. */
  readonly blockers: readonly number[];
  readonly comments: readonly { readonly author: string; readonly body: string }[];
}

const word = fc.constantFrom('one', 'two', '=x', 'ä🙂', "it's", 'a "b"');
const issues = fc.array(
  fc.record({
    title: word,
    status: fc.constantFrom('Todo', 'Doing', 'Done', 'Frozen', 'Canceled'),
    label: fc.option(word, { nil: undefined }),
    epic: fc.option(word, { nil: undefined }),
    blockers: fc.array(fc.nat(5), { maxLength: 2 }),
    comments: fc.array(fc.record({ author: word, body: word }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
);

const at = '2024-03-01T10:00:00.000Z';
const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const table = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(cell).join(',')).join('\r\n');
const idOf = (place: number): string => `WEB-${place}`;
const cardIdOf = (place: number): string => `65e19f00${String(place).padStart(16, '0')}`;
const githubIssueUrl = (place: number): string => `https://github.com/acme/web/issues/${place + 1}`;
const definedItems = (text: string | undefined): string[] => (text === undefined ? [] : [text]);

/** Writes the same issues in the format of each tracker. */
const fileWriters: Readonly<Record<FileFormat, (list: readonly Issue[]) => string>> = {
  linear: (list) =>
    JSON.stringify(
      list.map(({ title, status, label, epic, blockers, comments }, place) => ({
        ...{ identifier: idOf(place), title, state: { name: status }, createdAt: at },
        ...{
          labels: { nodes: definedItems(label).map((name) => ({ name })) },
          project: epic === undefined ? null : { name: epic },
        },
        inverseRelations: {
          nodes: blockers.map((one) => ({ type: 'blocks', issue: { identifier: idOf(one) } })),
        },
        comments: {
          nodes: comments.map(({ author, body }, number) => ({
            id: `${place}/${number}`,
            body,
            createdAt: at,
            user: { name: author },
          })),
        },
      })),
    ),
  jira: (list) => {
    const epics = [...new Set(list.flatMap(({ epic }) => definedItems(epic)))];
    return table([
      [
        'Issue key',
        'Issue Type',
        'Summary',
        'Status',
        'Labels',
        'Custom field (Epic Link)',
        'Created',
        'Inward issue link (Blocks)',
        'Inward issue link (Blocks)',
        'Comment',
        'Comment',
        'Comment',
      ],
      ...epics.map((epic, place) => [`E-${place}`, 'Epic', epic, 'Todo', '', '', '', '', '', '', '', '']),
      ...list.map(({ title, status, label, epic, blockers: [first, second], comments }, place) => [
        ...[
          idOf(place),
          'Story',
          title,
          status,
          label ?? '',
          epic === undefined ? '' : `E-${epics.indexOf(epic)}`,
          '01/Mar/24 10:00 AM',
        ],
        ...[first, second].map((one) => (one === undefined ? '' : idOf(one))),
        ...[0, 1, 2].map((number) => {
          const comment = comments[number];
          return comment === undefined ? '' : `01/Mar/24 10:00 AM;${comment.author};${comment.body}`;
        }),
      ]),
    ]);
  },
  github: (list) =>
    JSON.stringify(
      list.map(({ title, status, label, epic, blockers, comments }, place) => ({
        ...{
          number: place + 1,
          title,
          url: githubIssueUrl(place),
          createdAt: at,
          state: status === 'Done' ? 'CLOSED' : 'OPEN',
        },
        ...{
          labels: definedItems(label).map((name) => ({ name })),
          milestone: epic === undefined ? null : { title: epic },
        },
        blockedBy: blockers.map((one) => ({ number: one + 1, url: githubIssueUrl(one) })),
        comments: comments.map(({ author, body }, number) => ({
          id: `${place}/${number}`,
          author: { login: author },
          body,
          createdAt: at,
        })),
      })),
    ),
  plane: (list) =>
    table([
      [
        'Identifier',
        'Sequence Id',
        'Name',
        'State Name',
        'Labels',
        'Modules',
        'Relations',
        'Comments',
        'Created At',
      ],
      ...list.map(({ title, status, label, epic, blockers, comments }, place) => [
        ...[
          idOf(place),
          String(place),
          title,
          status,
          JSON.stringify(definedItems(label)),
          JSON.stringify(definedItems(epic)),
        ],
        JSON.stringify(blockers.map((one) => ({ type: 'blocked_by', issue: idOf(one) }))),
        JSON.stringify(
          comments.map(({ author, body }) => ({ comment: body, created_by: author, created_at: at })),
        ),
        at,
      ]),
    ]),
  trello: (list) => {
    const lists = [...new Set(list.map(({ status }) => status))];
    return JSON.stringify({
      name: 'Web',
      lists: lists.map((name, place) => ({ id: `l${place}`, name, pos: place })),
      cards: list.map(({ title, status, label }, place) => ({
        ...{ id: cardIdOf(place), name: title, idList: `l${lists.indexOf(status)}`, pos: place },
        labels: definedItems(label).map((name) => ({ name })),
      })),
      checklists: list.flatMap(({ epic }, place) =>
        definedItems(epic).map((name) => ({ idCard: cardIdOf(place), name, checkItems: [] })),
      ),
      actions: list.flatMap(({ comments }, place) =>
        comments.map(({ author, body }, number) => ({
          ...{ id: `${place}/${number}`, type: 'commentCard', date: at },
          memberCreator: { id: author, fullName: author },
          data: { text: body, card: { id: cardIdOf(place) } },
        })),
      ),
    });
  },
  muster: (list) =>
    JSON.stringify({
      epics: [...new Set(list.flatMap(({ epic }) => definedItems(epic)))].map((title) => ({
        localId: title,
        title,
      })),
      stories: list.map(({ title, label, epic }, place) => ({
        ...{ localId: idOf(place), title, status: 'ready', labels: definedItems(label), epicLocalId: epic },
      })),
    }),
  csv: (list) =>
    table([
      ['title', 'status', 'labels', 'epic', 'created'],
      ...list.map(({ title, status, label, epic }) => [title, status, label ?? '', epic ?? '', at]),
    ]),
};

/** Imports a text into a project, and reports the outcome of its items. */
async function importText(format: FileFormat, text: string, key: string, name = 'x') {
  const client = muster.apiClient(people.chloe);
  const source: TextSource = async function* whole() {
    await Promise.resolve();
    yield text;
  };
  const report = createEmptyReport();
  const file = await openFile(format, source);
  const { items: columns } = await client.boardColumns.list({ projectId: key });
  const fitting = { findStatusTarget: createStatusMapper(columns, new Map([['*', 'backlog']])) };
  const into = { imports: client.imports, project: key, name: `${format}: ${name}`, theirs: false };
  await importFile(file, fitting, into, () => undefined, report);
  return report;
}

it.each(fileFormats)('from %s', async (format) => {
  const client = muster.apiClient(people.chloe);
  const bring = (text: string, key: string, name?: string) => importText(format, text, key, name);
  /** Returns the contents of a project that an import writes. */
  const contentOf = async (key: string) => {
    const { items: stories } = await client.stories.list({ projectId: key, limit: 200 });
    const comments = await Promise.all(
      stories.map(async ({ id }) => (await client.comments.list({ storyId: id })).items),
    );
    const { items: epics } = await client.epics.list({ projectId: key });
    return { stories, comments, epics };
  };
  await fc.assert(
    fc.asyncProperty(issues, async (list) => {
      const key = `T${(projectCount += 1)}`;
      await client.projects.create({ key, name: key });
      const text = fileWriters[format](list);
      const first = await bring(text, key);
      expect(first.counts).toMatchObject({ created: list.length, refused: 0 });
      const once = await contentOf(key);
      expect(once.stories).toHaveLength(list.length);
      if (format !== 'csv' && format !== 'muster') {
        expect(once.comments.flat()).toHaveLength(list.flatMap(({ comments }) => comments).length);
      }
      const again = await bring(text, key, 'another name');
      expect(again.counts).toEqual({ created: 0, updated: 0, unchanged: list.length, kept: 0, refused: 0 });
      expect(await contentOf(key)).toEqual(once);
      if (format !== 'csv') return;
      // Rows have no ids, so a row is identified by its contents, at any position.
      const turned = await bring(fileWriters.csv(list.toReversed()), key);
      expect(turned.counts).toMatchObject({ unchanged: list.length });
      expect(await contentOf(key)).toEqual(once);
    }),
    { numRuns: 8 },
  );
});

it('counts an item once that has more comments than one call takes', async () => {
  const key = `T${(projectCount += 1)}`;
  await muster.apiClient(people.chloe).projects.create({ key, name: key });
  const board = (comments: number) =>
    JSON.stringify({
      name: 'Web',
      lists: [{ id: 'l', name: 'Doing' }],
      cards: [{ id: cardIdOf(1), name: 'Card', idList: 'l' }],
      actions: Array.from({ length: comments }, (_, n) => ({
        ...{ id: `a${n}`, type: 'commentCard', date: at, data: { text: 'Hm', card: { id: cardIdOf(1) } } },
      })),
    });
  const outcomes = { created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0 };
  expect((await importText('trello', board(501), key)).counts).toEqual({ ...outcomes, created: 1 });
  expect((await importText('trello', board(501), key)).counts).toEqual({ ...outcomes, unchanged: 1 });
  expect((await importText('trello', board(502), key)).counts).toEqual({ ...outcomes, updated: 1 });
});
