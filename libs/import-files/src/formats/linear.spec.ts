import { describe, expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

const header =
  'ID,Team,Title,Description,Status,Estimate,Priority,Project ID,Project,Creator,Assignee,Labels,Cycle Name,Created,Updated,Started,Completed,Canceled,Parent issue,Blocked by';

describe('the CSV of Linear', () => {
  it('becomes items with epics, waits, people and times', async () => {
    const {
      items,
      item,
      unimportedFields: leftOut,
      survey,
    } = await read(
      'linear',
      `${header}\r\n` +
        `ENG-1,Core,"'=SUM(1)","Two\r\nlines 🙂",In Progress,3,Urgent,p-1,Billing,ana@x.org,ben@x.org,"Bug, iOS",Cycle 4,2024-03-01T10:00:00.000Z,Fri Mar 01 2024 12:00:00 GMT+0100 (CET),2024-03-01T11:00:00Z,,,,"ENG-2, ENG-9"\r\n` +
        'ENG-2,Core,Sub,,Pairing,,No priority,,,ana@x.org,Zed,,,2024-03-01,,,2024-03-02,,ENG-1,\r\n' +
        'ENG-3,Core,Gone,,Weird,,,,,,,,,,,,,2024-03-02,,\r\n',
    );
    expect(items.map(({ externalId }) => externalId)).toEqual(['ENG-1', 'ENG-2', 'ENG-3']);
    expect(item('ENG-1')).toEqual({
      ...{ externalId: 'ENG-1', title: '=SUM(1)', description: 'Two\nlines 🙂', status: 'in_progress' },
      ...{ priority: 'urgent', labels: ['Bug', 'iOS'], estimate: 3, assigneeEmail: 'ben@x.org' },
      epic: { externalId: 'p-1', title: 'Billing' },
      blockedBy: ['ENG-2', 'ENG-9'],
      ...{ createdAt: '2024-03-01T10:00:00.000Z', updatedAt: '2024-03-01T11:00:00.000Z', comments: [] },
    });
    expect(item('ENG-2')).toMatchObject({ parent: 'ENG-1' });
    // Linear's CSV does not contain the kind of a team's custom status. The dates of completion and
    // cancellation determine it.
    expect(item('ENG-2')).toMatchObject({
      status: 'done',
      priority: 'none',
      updatedAt: '2024-03-02T00:00:00.000Z',
    });
    expect(item('ENG-3')).toMatchObject({ status: 'canceled' });
    expect(leftOut).toEqual({
      'column Team': ['ENG-1', 'ENG-2', 'ENG-3'],
      'column Creator': ['ENG-1', 'ENG-2'],
      'column Cycle Name': ['ENG-1'],
      'assignee without an e-mail address': ['ENG-2'],
    });
    expect(survey.notes).toEqual([
      'The CSV export of Linear has no comments; export from the Linear API to import them.',
    ]);
  });

  it('is told from other tables', async () => {
    await expect(read('linear', 'a,b\n1,2\n')).rejects.toThrow(
      'not an export of Linear: it has no column named "id"',
    );
    await expect(read('linear', '\n')).rejects.toThrow('the file is empty');
  });
});

it('an answer of the API of Linear has comments, replies and relations', async () => {
  const issue = {
    ...{ id: 'u', identifier: 'ENG-1', title: 'One', description: null, url: 'https://linear.app/x/ENG-1' },
    ...{ priority: 2, estimate: 5, state: { name: 'Pairing', type: 'started' }, dueDate: '2024-05-01' },
    ...{
      labels: { nodes: [{ name: 'bug' }] },
      project: { id: 'p', name: 'Billing', targetDate: '2024-06-01' },
      parent: null,
    },
    ...{ assignee: { name: 'Ben', email: 'ben@x.org' }, createdAt: '2024-03-01T10:00:00.000Z' },
    children: { nodes: [{ identifier: 'ENG-3' }] },
    comments: {
      nodes: [
        {
          id: 'c2',
          body: 'No',
          createdAt: '2024-03-03T10:00:00Z',
          user: null,
          parent: { id: 'c1' },
          reactions: ['x'],
        },
        {
          id: 'c1',
          body: 'Why?',
          createdAt: '2024-03-02T10:00:00Z',
          user: { name: 'Zed', email: 'z@x.org' },
        },
      ],
    },
    inverseRelations: {
      nodes: [
        { type: 'blocks', issue: { identifier: 'ENG-2' } },
        { type: 'related', issue: { identifier: 'ENG-4' } },
      ],
    },
  };
  const pages = [{ data: { issues: { nodes: [issue] } } }, { data: { issues: { nodes: [] } } }];
  const { items, unimportedFields: leftOut } = await read('linear', pages);
  expect(items).toEqual([
    {
      ...{
        externalId: 'ENG-1',
        url: 'https://linear.app/x/ENG-1',
        title: 'One',
        description: '',
        labels: ['bug'],
      },
      ...{
        status: 'in_progress',
        priority: 'high',
        estimate: 5,
        dueDate: '2024-05-01',
        epic: { externalId: 'p', title: 'Billing', targetDate: '2024-06-01' },
      },
      ...{ blockedBy: ['ENG-2'], assigneeEmail: 'ben@x.org', createdAt: '2024-03-01T10:00:00.000Z' },
      comments: [
        { externalId: 'c2', authorName: 'Unknown', body: 'No', at: '2024-03-03T10:00:00.000Z', parent: 'c1' },
        {
          ...{ externalId: 'c1', authorName: 'Zed', authorEmail: 'z@x.org', body: 'Why?' },
          at: '2024-03-02T10:00:00.000Z',
        },
      ],
    },
  ]);
  expect(leftOut).toEqual({
    'relation related': ['ENG-1'],
    'reactions of a comment': ['ENG-1'],
  });
});

it('sub-issues of Linear are parts of the outermost issue, and deeper ones are waited for', async () => {
  const issue = (identifier: string, more: object = {}) => ({ identifier, title: identifier, ...more });
  const { item } = await read('linear', [
    issue('ENG-1', { children: { nodes: [{ identifier: 'ENG-2' }] } }),
    issue('ENG-2'),
    issue('ENG-3', { parent: { identifier: 'ENG-2' } }),
    issue('ENG-4', { parent: { identifier: 'ENG-1' }, dueDate: '2024-05-01' }),
  ]);
  expect(['ENG-1', 'ENG-2', 'ENG-3', 'ENG-4'].map((id) => [item(id)?.parent, item(id)?.blockedBy])).toEqual([
    [undefined, undefined],
    ['ENG-1', ['ENG-3']],
    [undefined, undefined],
    ['ENG-1', undefined],
  ]);
  expect(item('ENG-4')?.dueDate).toBe('2024-05-01');
  const rows = 'ID,Title,Status,Parent issue,Due date\nENG-1,One,Done,,\nENG-2,Two,Done,ENG-1,2024-05-01\n';
  expect((await read('linear', rows)).item('ENG-2')).toMatchObject({
    parent: 'ENG-1',
    dueDate: '2024-05-01',
  });
});
