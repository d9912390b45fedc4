import { expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

const issueUrl = (number: number) => `https://github.com/acme/web/issues/${number}`;

it('issues of gh come with comments, milestones, parts and what blocks them, the oldest first', async () => {
  const {
    items,
    item,
    unimportedFields: leftOut,
  } = await read(
    'github',
    [
      {
        ...{
          number: 9,
          title: 'Late',
          state: 'CLOSED',
          stateReason: 'NOT_PLANNED',
          url: issueUrl(9),
          labels: [],
        },
        ...{ body: 'a\r\nb', blockedBy: { nodes: [{ number: 7, url: issueUrl(7) }] }, isPinned: true },
      },
      {
        ...{
          number: 7,
          title: 'Early',
          state: 'OPEN',
          url: issueUrl(7),
          labels: [{ name: 'bug' }],
          body: '',
        },
        ...{ milestone: { number: 2, title: 'v2' }, assignees: [{ login: 'Ana' }, { login: 'zed' }] },
        ...{
          subIssues: [{ number: 8, url: 'https://github.com/acme/api/issues/8' }],
          createdAt: '2024-03-01T10:00:00Z',
        },
        comments: [
          { id: 'IC_1', author: { login: 'zed' }, body: 'Hm', createdAt: '2024-03-02T10:00:00Z', url: 'x' },
          { id: 'IC_2', author: null, body: ' ', createdAt: '2024-03-02T10:00:00Z' },
        ],
      },
    ],
    { emailsByName: new Map([['ana', 'ana@x.org']]) },
  );
  expect(items.map(({ externalId }) => externalId)).toEqual(['acme/web#7', 'acme/web#9']);
  expect(item('acme/web#7')).toEqual({
    ...{
      externalId: 'acme/web#7',
      url: issueUrl(7),
      title: 'Early',
      description: '',
      status: 'backlog',
      labels: ['bug'],
    },
    ...{ epic: { externalId: 'acme/web milestone 2', title: 'v2' }, blockedBy: ['acme/api#8'] },
    ...{ assigneeEmail: 'ana@x.org', createdAt: '2024-03-01T10:00:00.000Z' },
    comments: [{ externalId: 'IC_1', authorName: 'zed', body: 'Hm', at: '2024-03-02T10:00:00.000Z' }],
  });
  expect(item('acme/web#9')).toMatchObject({
    status: 'canceled',
    description: 'a\nb',
    blockedBy: ['acme/web#7'],
  });
  expect(leftOut).toEqual({
    ...{ isPinned: ['issue 9'], 'additional assignees': ['issue 7'], 'comment without text': ['issue 7'] },
  });
});

it('names what milestones and comments have that is not imported, and leaves pull requests out', async () => {
  const { items, unimportedFields: leftOut } = await read('github', [
    {
      ...{ number: 1, title: 'One', state: 'OPEN', url: issueUrl(1) },
      milestone: { number: 2, title: 'v2', description: 'Second', dueOn: '2024-05-01T00:00:00Z' },
      comments: [
        { id: 'IC_1', author: { login: 'spammer' }, body: 'Buy', isMinimized: true, minimizedReason: 'SPAM' },
        {
          ...{ id: 'IC_2', author: { login: 'zed' }, body: 'Hm', createdAt: '2024-03-02T10:00:00Z' },
          ...{ isMinimized: false, minimizedReason: '', viewerDidAuthor: true, attachment: 'x' },
          reactionGroups: [{ content: 'HEART', users: { totalCount: 1 } }],
        },
        {
          ...{ id: 'IC_3', author: { login: 'zed' }, body: 'Ok', createdAt: '2024-03-03T10:00:00Z' },
          reactionGroups: [{ content: 'HEART', users: { totalCount: 0 } }],
        },
      ],
    },
    { number: 2, title: 'Merged', state: 'MERGED' },
    { number: 3, title: 'Closed', state: 'CLOSED', url: 'https://github.com/acme/web/pull/3' },
    { number: 4, title: 'Pull', state: 'OPEN', url: 'https://api.github.com/repos/acme/web/pulls/4' },
    {
      ...{ number: 5, title: 'Five', state: 'open', url: issueUrl(5) },
      milestone: { number: 3, title: 'v1', due_on: null, state: 'closed', html_url: 'x', open_issues: 0 },
    },
  ]);
  expect(items.map(({ title }) => title)).toEqual(['One', 'Five']);
  expect(items[0]?.epic).toEqual({
    ...{ externalId: 'acme/web milestone 2', title: 'v2', targetDate: '2024-05-01' },
  });
  expect(items[0]?.comments.map(({ body }) => body)).toEqual(['Hm', 'Ok']);
  expect(leftOut).toEqual({
    'pull request': ['pull request 2', 'pull request 3', 'pull request 4'],
    ...{ 'description of a milestone': ['issue 1'] },
    ...{ 'hidden comment (spam)': ['issue 1'], 'attachment of a comment': ['issue 1'] },
    ...{ 'reactions of a comment': ['issue 1'], 'closed state of a milestone': ['issue 5'] },
  });
});

it('sub-issues have parents, blocked issues wait, and issues of other files are named', async () => {
  const { item, unimportedFields: leftOut } = await read('github', [
    { number: 1, title: 'Parent', url: issueUrl(1), subIssues: [{ number: 2, url: issueUrl(2) }] },
    { number: 2, title: 'Part', url: issueUrl(2), parent: { number: 1, url: issueUrl(1) } },
    {
      number: 3,
      title: 'Second part',
      url: issueUrl(3),
      parent_issue_url: issueUrl(1).replace('.com', '.com/repos'),
    },
    { number: 4, title: 'Base', url: issueUrl(4), blocking: { nodes: [{ number: 2 }, { number: 99 }] } },
    { number: 5, title: 'Other', url: issueUrl(5), parent: { number: 98 }, user: { login: 'zed' } },
  ]);
  expect(item('acme/web#1')).not.toHaveProperty('blockedBy');
  expect(item('acme/web#2')).toMatchObject({ parent: 'acme/web#1', blockedBy: ['acme/web#4'] });
  expect(item('acme/web#3')).toMatchObject({ parent: 'acme/web#1' });
  expect(leftOut).toEqual({ blocking: ['issue 4'], parent: ['issue 5'], user: ['issue 5'] });
});

it('answers of the REST API count comments and list pull requests; both are named', async () => {
  const { items, unimportedFields: leftOut } = await read('github', [
    [{ number: 2, title: 'A PR', state: 'open', html_url: issueUrl(2), pull_request: { url: 'x' } }],
    [
      {
        ...{ number: 1, title: 'One', state: 'closed', state_reason: 'completed', comments: 3 },
        ...{ url: 'https://api.github.com/repos/acme/web/issues/1', html_url: issueUrl(1), locked: true },
      },
    ],
  ]);
  expect(items).toMatchObject([{ externalId: 'acme/web#1', status: 'done', url: issueUrl(1) }]);
  expect(leftOut).toEqual({
    ...{ 'pull request': ['pull request 2'], locked: ['issue 1'] },
    'comments (the file has only their number)': ['issue 1'],
  });
  await expect(read('github', '{"number": 1}')).rejects.toThrow('not a list of GitHub issues');
  await expect(read('github', '[{"number": 1}]')).rejects.toThrow(
    'item 1 of the list is not a valid GitHub issue',
  );
  await expect(read('github', 'no')).rejects.toThrow('not valid JSON');
});

it('items of a project have their columns, drafts too, and an end that is told', async () => {
  const {
    items,
    unimportedFields: leftOut,
    survey,
  } = await read('github', {
    items: [
      {
        ...{ id: 'PVTI_1', title: 'One', status: 'In Review', sprint: { title: 'S1' }, labels: ['x'] },
        content: {
          type: 'Issue',
          number: 5,
          url: issueUrl(5),
          title: 'One',
          body: 'b',
          repository: 'acme/web',
        },
        milestone: { title: 'v2', description: '', dueOn: '2024-05-01T07:00:00Z' },
      },
      { id: 'PVTI_2', title: 'Idea', content: { type: 'DraftIssue', title: 'Idea', body: '', id: 'DI_1' } },
      { id: 'PVTI_3', title: 'PR', content: { type: 'PullRequest', number: 6, title: 'PR' } },
      { id: 'PVTI_4', title: 'PR', content: { type: 'X', url: 'https://github.com/acme/web/pull/7' } },
    ],
    totalCount: 31,
  });
  expect(items).toEqual([
    {
      ...{
        externalId: 'acme/web#5',
        url: issueUrl(5),
        title: 'One',
        description: 'b',
        status: 'in_review',
        labels: ['x'],
      },
      ...{ epic: { externalId: 'milestone v2', title: 'v2', targetDate: '2024-05-01' }, comments: [] },
    },
    { externalId: 'PVTI_2', title: 'Idea', description: '', labels: [], comments: [] },
  ]);
  expect(leftOut).toEqual({
    'pull request': ['pull request 6', 'pull request PVTI_4'],
    'field sprint': ['issue 5'],
  });
  expect(survey.notes).toEqual(['The file ends after 4 of 31 items; raise --limit of the gh command.']);
});
