import { expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

it('names the fields of the board, its epics and its stories that are not imported', async () => {
  const {
    items,
    survey,
    unimportedFields: leftOut,
  } = await read('muster', {
    ...{ name: 'Web', columns: ['Doing'], people: [] },
    epics: [
      { localId: 'e', title: 'Offline', description: 'Work without a network', targetDate: '2026-01-31' },
      { localId: 'f', title: 'Unused', description: 'Later', color: '' },
    ],
    stories: [{ localId: 's', title: 'A queue', status: 'ready', epicLocalId: 'e', assignee: 'Ana' }],
  });
  expect(items).toMatchObject([
    { title: 'A queue', epic: { externalId: 'muster:e', title: 'Offline', targetDate: '2026-01-31' } },
  ]);
  expect(survey.notes).toEqual([
    'Field columns of the board is not imported.',
    'Field description of epics is not imported (2 with a value).',
  ]);
  expect(leftOut).toMatchObject({ assignee: ['story s'], 'epic without stories': ['epic f'] });
});
