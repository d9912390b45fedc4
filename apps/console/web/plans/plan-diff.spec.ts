import { expect, it } from '@jest/globals';
import { type StorySummary } from '@muster/contract';
import { describeChange, summarizeChanges } from './plan-diff.ts';

const story = {
  ...{ title: 'Old', status: 'ready', epicId: 'e1', parentId: null, blockedBy: ['s2', 's3'] },
  ...{ touches: ['src/a'], estimate: 1234.5, priority: 'none', labels: [], dueDate: null },
} as unknown as StorySummary;
const names = {
  stories: new Map([
    ['s2', 'T002'],
    ['s3', 'WEB-9'],
  ]),
  epics: new Map([
    ['e1', 'Accounts'],
    ['auth', 'Sign-in'],
  ]),
};
const item = {
  ...{ ref: 'T1', title: 'New', status: 'done' as const, epicRef: 'auth', parentRef: 'WEB-1' },
  ...{ dependsOn: ['T002'], touches: [], estimate: null, priority: 'high' as const, labels: ['a', 'b'] },
};

it('shows the values of the board and of the plan in words', () => {
  const fields = ['title', 'epicRef', 'parentRef', 'dependsOn', 'touches', 'estimate', 'priority', 'labels'];
  const diffs = describeChange({ fields, kept: [] }, item, story, names);
  expect(diffs.map(({ before, after }) => [before, after])).toEqual([
    ...[
      ['Old', 'New'],
      ['Accounts', 'Sign-in'],
      [null, 'WEB-1'],
      ['T002, WEB-9', 'T002'],
    ],
    ...[
      ['src/a', null],
      [(1234.5).toLocaleString(), null],
      ['No priority', 'High'],
      [null, 'a, b'],
    ],
  ]);
});

it('lists what the board keeps, with the reason and both values', () => {
  const kept = [
    { field: 'status', reason: 'policy', message: 'A review is missing.' },
    { field: 'ref', reason: 'deleted', message: 'The record was deleted on the board.' },
  ] as const;
  expect(describeChange({ fields: [], kept: [...kept] }, item, story, names)).toEqual([
    { field: 'status', before: 'Ready', after: 'Done', keptBecause: 'A review is missing.' },
    { field: 'ref', before: null, after: null, keptBecause: 'The record was deleted on the board.' },
  ]);
});

it('counts the changes of each kind', () => {
  const changes = ['create', 'unchanged', 'create', 'remove'] as const;
  expect(summarizeChanges(changes.map((action) => ({ action })))).toBe('2 created, 1 unchanged, 1 removed');
  expect(summarizeChanges([])).toBe('');
});
