import { expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

const quoteCell = (value: unknown): string => `"${JSON.stringify(value).replaceAll('"', '""')}"`;

it('rows of Plane have lists in their cells', async () => {
  const {
    items,
    item,
    unimportedFields: leftOut,
  } = await read(
    'plane',
    'Project Identifier,Sequence Id,Identifier,Name,State Name,Priority,Assignees,Labels,Modules,Cycles,Relations,Comments,Parent,Is Draft,Archived At,Estimate,Created At,Link Count\n' +
      `WEB,1,WEB-1,One,QA,urgent,${quoteCell(['Jane Doe'])},${quoteCell(['a', 'b'])},${quoteCell(['Auth', 'Mail'])},${quoteCell(['S1'])},${quoteCell(
        [
          { type: 'blocked_by', issue: 'WEB-9' },
          { type: 'relates_to', issue: 'WEB-8' },
        ],
      )},${quoteCell([{ comment: 'Hm', created_by: 'Jane Doe', created_at: '2024-01-01 14:30:00' }])},,false,,5,2024-01-01T10:00:00Z,1\n` +
      `WEB,2,WEB-2,Two,Todo,none,[],[],[],[],${quoteCell([{ type: 'blocking', issue: 'WEB-1' }])},[],WEB-1,false,,,,0\n` +
      'WEB,3,WEB-3,Draft,Todo,none,[],[],[],[],[],[],,true,,,,0\n' +
      'WEB,4,WEB-4,Old,Todo,none,[],[],[],[],[],[],,false,2024-01-06T12:00:00Z,,,0\n',
    { emailsByName: new Map([['jane doe', 'jane@x.org']]) },
  );
  expect(items.map(({ externalId }) => externalId)).toEqual(['plane:WEB-1', 'plane:WEB-2']);
  expect(item('plane:WEB-1')).toEqual({
    ...{ externalId: 'plane:WEB-1', title: 'One', description: '', status: 'in_review', priority: 'urgent' },
    ...{ labels: ['a', 'b'], estimate: 5, epic: { externalId: 'plane:Auth', title: 'Auth' } },
    ...{ blockedBy: ['plane:WEB-9', 'plane:WEB-2'], assigneeEmail: 'jane@x.org' },
    createdAt: '2024-01-01T10:00:00.000Z',
    comments: [
      {
        ...{
          externalId: '2024-01-01T14:30:00.000Z Jane Doe',
          authorName: 'Jane Doe',
          authorEmail: 'jane@x.org',
        },
        ...{ body: 'Hm', at: '2024-01-01T14:30:00.000Z' },
      },
    ],
  });
  expect(item('plane:WEB-2')).toMatchObject({ parent: 'plane:WEB-1' });
  expect(leftOut).toEqual({
    ...{ draft: ['WEB-3'], 'archived item': ['WEB-4'], 'additional modules': ['WEB-1'] },
    ...{ 'column Cycles': ['WEB-1'], 'relation relates_to': ['WEB-1'] },
  });
});

it('the other words that Plane has for its columns are read alike, and its JSON', async () => {
  const table = await read(
    'plane',
    'ID,Sequence ID,Name,State,Assignee,Labels,Module Name,Relations,Comments,Link\nWEB-1,1,One,Done,Jane Doe,"a, b",Auth,"{""blocked_by"": ""WEB-2""}",[],https://x.org\n',
    { emailsByName: new Map([['jane doe', 'jane@x.org']]) },
  );
  expect(table.items).toMatchObject([
    {
      ...{ externalId: 'plane:WEB-1', status: 'done', labels: ['a', 'b'], blockedBy: ['plane:WEB-2'] },
      ...{ epic: { title: 'Auth' }, assigneeEmail: 'jane@x.org' },
    },
  ]);
  expect(table.unimportedFields).toEqual({ 'column Link': ['WEB-1'] });
  const json = await read('plane', [
    {
      project_identifier: 'WEB',
      sequence_id: 1,
      name: 'One',
      state_name: 'Done',
      labels: ['a', 'b'],
      id: 'uuid',
    },
  ]);
  expect(json.items).toMatchObject([{ externalId: 'plane:WEB-1', status: 'done', labels: ['a', 'b'] }]);
  await expect(read('plane', [{ x: 1 }])).rejects.toThrow('an item has no name');
});
