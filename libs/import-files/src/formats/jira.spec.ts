import { describe, expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

const header =
  'Summary,Issue key,Issue id,Issue Type,Status,Status Category,Priority,Resolution,Assignee,Created,Updated,Labels,Labels,Description,Inward issue link (Blocks),Outward issue link (Blocks),Sprint,Sprint,Custom field (Story point estimate),Custom field (Epic Link),Parent,Parent summary,Comment,Comment';

describe('the CSV of Jira', () => {
  it('has epics that are no stories, columns that repeat, comments in a cell, and wiki markup', async () => {
    const {
      items,
      item,
      unimportedFields: leftOut,
      entries,
    } = await read(
      'jira',
      `${header}\n` +
        'Accounts,OPS-1,10001,Epic,To Do,To Do,Medium,,,01/Mar/24 9:00 AM,,,,About accounts,,,,,,,,,,\n' +
        'Nothing in it,OPS-2,10002,Epic,Shipped,Done,,Done,Zed,,,big,,,OPS-9,,,,5,,,,,\n' +
        'Sign in,OPS-3,10003,Story,In QA,In Progress,Lowest,,Zed,01/Mar/24 10:00 AM,02/Mar/24 1:05 PM,auth,mail,"h2. Why\n*bold* {{code}}",OPS-9,OPS-4,Sprint 1,Sprint 2,2.5,OPS-1,,,"01/Mar/24 11:00 AM;zed;Semi; colon","01/Mar/24 11:00 AM;zed;Twice"\n' +
        "Part,OPS-4,10004,Sub-task,Done,Done,Highest,Won't Do,ana@x.org,,,,,,,,,,,,10003,Sign in,,\n" +
        'Elsewhere,OPS-5,10005,Story,Odd,Done,,Done,,,,,,,,,,,,,777,Far epic,,\n',
      {},
      { siteUrl: 'https://acme.atlassian.net/' },
    );
    expect(items.map(({ externalId }) => externalId)).toEqual(['OPS-3', 'OPS-4', 'OPS-5']);
    expect(item('OPS-3')).toEqual({
      ...{ externalId: 'OPS-3', url: 'https://acme.atlassian.net/browse/OPS-3', title: 'Sign in' },
      ...{
        description: '## Why\n**bold** `code`',
        status: 'in_review',
        priority: 'low',
        labels: ['auth', 'mail'],
      },
      ...{ estimate: 2.5, epic: { externalId: 'OPS-1', title: 'Accounts' }, blockedBy: ['OPS-9'] },
      ...{ createdAt: '2024-03-01T10:00:00.000Z', updatedAt: '2024-03-02T13:05:00.000Z' },
      comments: [
        {
          ...{ externalId: '2024-03-01T11:00:00.000Z zed', authorName: 'zed', body: 'Semi; colon' },
          at: '2024-03-01T11:00:00.000Z',
        },
        {
          ...{ externalId: '2024-03-01T11:00:00.000Z zed #2', authorName: 'zed', body: 'Twice' },
          at: '2024-03-01T11:00:00.000Z',
        },
      ],
    });
    // A subtask has the epic of its parent. An issue closed without being done is canceled. Either side of a
    // relation may name the blocker.
    expect(item('OPS-4')).toMatchObject({
      ...{ status: 'canceled', priority: 'urgent', assigneeEmail: 'ana@x.org', blockedBy: ['OPS-3'] },
      ...{ parent: 'OPS-3', epic: { externalId: 'OPS-1' } },
    });
    expect(item('OPS-5')).toMatchObject({ status: 'done', epic: { externalId: '777', title: 'Far epic' } });
    expect(entries.filter(({ kind }) => kind === 'skipped')).toEqual([
      { kind: 'skipped', place: 'OPS-1', why: 'description of an epic' },
      { kind: 'skipped', place: 'OPS-1', why: 'priority of an epic' },
      { kind: 'skipped', place: 'OPS-2', why: 'epic without stories' },
      ...['status', 'assignee', 'estimate', 'labels', 'links'].map((field) => ({
        ...{ kind: 'skipped', place: 'OPS-2', why: `${field} of an epic` },
      })),
    ]);
    expect(leftOut).toMatchObject({
      'column Sprint': ['OPS-3'],
      'assignee without an e-mail address': ['OPS-3'],
    });
  });

  it('asks which comes first where a date are ambiguous', async () => {
    const text = 'Summary,Issue key,Status,Created\nA,OPS-1,Done,03/04/2024 10:00\n';
    await expect(read('jira', text)).rejects.toThrow('03/04/2024 10:00 are ambiguous');
    expect((await read('jira', text, { dateOrder: 'dmy' })).items[0]?.createdAt).toBe(
      '2024-04-03T10:00:00.000Z',
    );
    expect((await read('jira', text, { dateOrder: 'mdy' })).items[0]?.createdAt).toBe(
      '2024-03-04T10:00:00.000Z',
    );
  });
});

it('an answer of the REST API of Jira, version 2, says the same', async () => {
  const { items, unimportedFields: leftOut } = await read('jira', {
    names: { customfield_1: 'Story Points', customfield_2: 'Epic Link', customfield_3: 'Team' },
    issues: [
      {
        id: '1',
        key: 'OPS-1',
        fields: { summary: 'Accounts', issuetype: { name: 'Epic' }, duedate: '2024-06-01' },
      },
      {
        ...{ id: '3', key: 'OPS-3', self: 'https://acme.atlassian.net/rest/api/2/issue/3' },
        fields: {
          ...{ summary: 'Sign in', description: '*b*', issuetype: { name: 'Story' }, labels: ['x'] },
          status: { name: 'Pairing', statusCategory: { key: 'indeterminate' } },
          ...{ customfield_1: 8, customfield_2: 'OPS-1', customfield_3: 'Blue', duedate: '2024-05-01' },
          assignee: { displayName: 'Zed', emailAddress: 'zed@x.org' },
          comment: {
            total: 2,
            comments: [
              {
                id: '77',
                author: { displayName: 'Ana' },
                body: '{quote}a{quote}',
                created: '2024-03-01T10:00:00.000+0000',
                visibility: { type: 'role', value: 'Developers' },
              },
            ],
          },
          issuelinks: [
            { type: { name: 'Blocks' }, inwardIssue: { key: 'OPS-9' } },
            { type: { name: 'Relates' }, outwardIssue: { key: 'OPS-8' } },
          ],
        },
      },
    ],
  });
  expect(items).toEqual([
    {
      ...{
        externalId: 'OPS-3',
        url: 'https://acme.atlassian.net/browse/OPS-3',
        title: 'Sign in',
        description: '**b**',
      },
      ...{
        status: 'in_progress',
        labels: ['x'],
        estimate: 8,
        dueDate: '2024-05-01',
        epic: { externalId: 'OPS-1', title: 'Accounts', targetDate: '2024-06-01' },
      },
      ...{ blockedBy: ['OPS-9'], assigneeEmail: 'zed@x.org' },
      comments: [{ externalId: '77', authorName: 'Ana', body: '> a', at: '2024-03-01T10:00:00.000Z' }],
    },
  ]);
  expect(leftOut).toEqual({
    ...{ Team: ['OPS-3'], 'link Relates': ['OPS-3'] },
    ...{ 'comments that are missing from the file': ['OPS-3'], 'visibility of a comment': ['OPS-3'] },
  });
  const third = { issues: [{ key: 'A-1', fields: { summary: 'x', description: { type: 'doc' } } }] };
  await expect(read('jira', third)).rejects.toThrow('API version 3 returns another format');
});
