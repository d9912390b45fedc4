import { describe, expect, it } from '@jest/globals';
import { ImportItem } from '@muster/contract';
import fc from 'fast-check';
import { read } from '../test/reading.ts';
import { createStatusMapper } from './statuses.ts';

/** Reads an issue in the format of GitHub's API, which has a field for each kind of text. */
const readOneIssue = (more: object) => read('github', [{ number: 1, title: 'T', ...more }]);

describe('what is too much for the contract', () => {
  it('is a title whose whole stands in the description', async () => {
    const { items, unimportedFields: leftOut } = await readOneIssue({
      title: `${'🙂'.repeat(300)}!`,
      body: 'b',
    });
    expect(items[0]?.title).toBe(`${'🙂'.repeat(299)}…`);
    expect(items[0]?.description).toBe(`${'🙂'.repeat(300)}!\n\nb`);
    expect(leftOut).toEqual({
      'title longer than 300 characters (full text in the description)': ['issue 1'],
    });
  });

  it('is a description whose whole stands in the spec, which itself ends somewhere', async () => {
    const body = 'ä'.repeat(65_536);
    const { items, unimportedFields: leftOut } = await readOneIssue({ body });
    expect(items[0]?.spec).toBe(body);
    expect(items[0]?.description).toMatch(/^ä{999}…\n\n\(The full text is in the spec\.\)$/);
    expect(Object.keys(leftOut)).toEqual([
      'description longer than 20000 characters (full text in the spec)',
    ]);
    const longer = await readOneIssue({ body: 'ä'.repeat(140_000) });
    expect(longer.items[0]?.spec).toBe('ä'.repeat(131_072));
    expect(longer.unimportedFields).toMatchObject({ 'spec larger than 256 KiB': ['issue 1'] });
  });

  it('is a comment that goes on in the next', async () => {
    const comments = [
      { id: 'c', author: { login: 'z' }, body: 'x'.repeat(45_000), createdAt: '2024-01-01T00:00:00Z' },
    ];
    const { items } = await readOneIssue({ comments });
    expect(items[0]?.comments.map(({ externalId, body, at }) => [externalId, body.length, at])).toEqual([
      ['c', 20_000, '2024-01-01T00:00:00.000Z'],
      ['c/2', 20_000, '2024-01-01T00:00:00.001Z'],
      ['c/3', 5_000, '2024-01-01T00:00:00.002Z'],
    ]);
  });

  it('is a title, label or comment of which nothing can be seen: the id stands for the title', async () => {
    const { items } = await readOneIssue({ title: '\u200b\u2800', labels: ['\u3164', 'bug'] });
    expect(items).toEqual([expect.objectContaining({ title: items[0]?.externalId, labels: ['bug'] })]);
  });

  it('is labels, blockers and times, each named', async () => {
    const { items, unimportedFields: leftOut } = await readOneIssue({
      labels: [...Array.from({ length: 22 }, (_, place) => `l${place}`), 'x'.repeat(51), 'l0'],
      blockedBy: Array.from({ length: 102 }, (_, place) => ({ number: place + 1 })),
      created_at: 'yesterday',
      html_url: 'ftp://x',
    });
    expect([items[0]?.labels?.length, items[0]?.blockedBy?.length]).toEqual([20, 100]);
    expect(Object.keys(leftOut)).toEqual([
      ...[
        'creation time that is not a valid time',
        'label longer than 50 characters',
        'labels after the first 20',
      ],
      ...['blockers after the first 100', 'invalid web address'],
    ]);
  });
});

describe('a status', () => {
  const columns = [
    { name: 'Backlog', status: 'backlog' },
    { name: 'QA Passed', status: 'in_review' },
    { name: 'Done', status: 'done' },
  ] as const;
  it.each([
    ['a column of its name', { name: 'qa passed' }, { column: 'QA Passed' }],
    ['what its words say', { name: 'CLOSED' }, { status: 'done' }],
    [
      'what the tracker says that it is, before all',
      { name: 'Done', trackerStatus: 'canceled' },
      { status: 'canceled' },
    ],
    [
      'its hint, where its words are not known',
      { name: 'Frozen', statusHint: 'backlog' },
      { status: 'backlog' },
    ],
    ['what was said, before all', { name: 'On Hold', statusHint: 'done' }, { status: 'backlog' }],
    ['a column that was said', { name: 'Blocked' }, { column: 'QA Passed' }],
    ['the column that was said, where it is called as a status is', { name: 'Over' }, { column: 'Done' }],
    ['no place where the board has no such column', { name: 'Doing' }, undefined],
    ['no place where the column that was said is not there', { name: 'Odd' }, undefined],
    ['no place where none knows it', { name: 'Frozen' }, undefined],
  ] as const)('goes to %s', (_, status, place) => {
    const said = new Map([
      ['on hold', 'backlog'],
      ['Blocked', 'qa passed'],
      ['Odd', 'Nowhere'],
      ['Over', 'Done'],
    ]);
    expect(createStatusMapper(columns, said)(status)).toEqual(place);
  });

  it('without a place refuses its items, and the survey names it', async () => {
    const { survey } = await read('csv', 'title,status\nA,Frozen\nB,Frozen\nC,done\n', {
      findStatusTarget: createStatusMapper(undefined),
    });
    expect(survey.statuses).toEqual([
      { name: 'Frozen', items: 2, place: undefined },
      { name: 'done', items: 1, place: { status: 'done' } },
    ]);
    expect([survey.items, survey.refused]).toEqual([1, []]);
  });
});

const arbitraryText = fc.string({ unit: 'binary', maxLength: 20 });

it('what is read fits the contract, whatever stands in the cells', async () => {
  const heads = {
    linear:
      'ID,Title,Description,Status,Due date,Priority,Project,Assignee,Labels,Created,Parent issue,Blocked by',
    jira: 'Issue key,Summary,Description,Status,Issue Type,Labels,Comment,Created,Parent,Priority',
    plane: 'Identifier,Name,Description,State Name,Labels,Modules,Relations,Comments,Estimate,Created At',
    csv: 'id,title,description,status,labels,estimate,epic,blocked by,parent,due,url,created',
  } as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(heads) as (keyof typeof heads)[])),
      fc.array(fc.array(arbitraryText, { minLength: 12, maxLength: 12 }), { maxLength: 5 }),
      async (format, rows) => {
        const width = heads[format].split(',').length;
        const lines = rows.map((cells) =>
          cells
            .slice(0, width)
            .map((cell) => `"${cell.replaceAll('"', '""')}"`)
            .join(','),
        );
        const { entries, items } = await read(format, `${heads[format]}\n${lines.join('\n')}\n`);
        for (const item of items) expect(ImportItem.safeParse(item).error).toBeUndefined();
        // Each row is an item, or is reported.
        const filled = rows.filter((cells) => cells.slice(0, width).some((cell) => cell.trim() !== ''));
        expect(entries.length).toBeGreaterThanOrEqual(filled.length);
      },
    ),
    { numRuns: 300 },
  );
});

it('what stands in a cell is stored, or its column is named', async () => {
  const names = {
    linear: [
      'ID',
      'Title',
      'Status',
      'Description',
      'Project',
      'Labels',
      'Cycle Name',
      'Parent issue',
      'Related to',
      'Creator',
    ],
    jira: [
      'Issue key',
      'Summary',
      'Status',
      'Description',
      'Labels',
      'Comment',
      'Sprint',
      'Fix versions',
      'Attachment',
      'Custom field (Team)',
    ],
    plane: [
      'Identifier',
      'Name',
      'State Name',
      'Description',
      'Labels',
      'Modules',
      'Cycles',
      'Link',
      'Start Date',
      'Subscribers',
    ],
    csv: ['id', 'title', 'status', 'description', 'labels', 'epic', 'Sprint', 'Reporter', 'Votes', 'spec'],
  } as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(names) as (keyof typeof names)[])),
      fc.array(fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }), { minLength: 1, maxLength: 4 }),
      async (format, rows) => {
        const head = names[format];
        // Each cell has a unique word. The first three columns are required.
        const cells = rows.map((filled, row) =>
          head.map((_, column) => (column < 3 || filled[column] === true ? `w${row}x${column}y` : '')),
        );
        const written = cells.map((line) =>
          line.map((word, column) =>
            head[column] === 'Comment' && word !== '' ? `2024-01-01;z;${word}` : word,
          ),
        );
        const text = [head, ...written].map((line) => line.join(',')).join('\n');
        const { items, unimportedFields: leftOut, survey } = await read(format, text);
        const stored = JSON.stringify(items) + survey.statuses.map(({ name }) => name).join(' ');
        const lost = cells.flatMap((line) =>
          line.flatMap((word, column) => {
            const name = `column ${head[column] ?? ''}`;
            return word === '' || stored.includes(word) || leftOut[name] !== undefined
              ? []
              : [`${format}: ${name}`];
          }),
        );
        expect(lost).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});
