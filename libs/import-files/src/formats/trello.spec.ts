import { expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

const id = (name: string): string => `65e19f00${name.padStart(16, '0')}`;
const board = {
  name: 'Web',
  lists: [
    { id: 'l2', name: 'Done', pos: 2 },
    { id: 'l1', name: 'Doing', pos: 1 },
  ],
  members: [{ id: 'm1', fullName: 'Jane Doe' }],
  cards: [
    { id: id('c'), name: 'Third', idList: 'l2', pos: 1, closed: true },
    { id: id('b'), name: 'Second', idList: 'l1', pos: 2, closed: true, due: '2024-05-01T00:00:00Z' },
    {
      ...{ id: id('a'), name: 'First', desc: 'd', idList: 'l1', pos: 1, shortUrl: 'https://trello.com/c/x' },
      ...{
        labels: [
          { name: 'bug', color: 'red' },
          { name: '', color: 'green' },
        ],
        idMembers: ['m1'],
      },
      ...{ dateLastActivity: '2024-03-05T10:00:00.000Z', attachments: [{ name: 'a.png' }] },
    },
    { id: id('d'), name: 'Form', idList: 'l1', pos: 0, isTemplate: true },
  ],
  checklists: [
    {
      ...{ idCard: id('a'), name: 'Steps', pos: 1 },
      checkItems: [
        { name: 'two', state: 'incomplete', pos: 2, due: '2024-05-01T00:00:00Z', dueReminder: -1 },
        { name: 'one', state: 'complete', pos: 1, due: null, idMember: 'm1' },
      ],
    },
  ],
  actions: [
    {
      ...{ id: 'x1', type: 'commentCard', date: '2024-03-02T10:00:00.000Z' },
      ...{ memberCreator: { id: 'm1', fullName: 'Jane Doe' }, data: { text: 'Hm', card: { id: id('a') } } },
    },
    { id: 'x2', type: 'updateCard', date: '2024-03-02T10:00:00.000Z', data: {} },
  ],
};

it('cards of a board stand in the order of the board, with comments, task lists and when they were made', async () => {
  const { items, unimportedFields: leftOut } = await read('trello', board, {
    emailsByName: new Map([['jane doe', 'jane@x.org']]),
  });
  expect(items[0]).toEqual({
    ...{ externalId: `trello:${id('a')}`, url: 'https://trello.com/c/x', title: 'First', description: 'd' },
    ...{ spec: '## Steps\n\n- [x] one\n- [ ] two', status: 'in_progress', labels: ['bug', 'green'] },
    ...{
      assigneeEmail: 'jane@x.org',
      createdAt: '2024-03-01T09:25:20.000Z',
      updatedAt: '2024-03-05T10:00:00.000Z',
    },
    comments: [
      {
        ...{ externalId: 'x1', authorName: 'Jane Doe', authorEmail: 'jane@x.org', body: 'Hm' },
        at: '2024-03-02T10:00:00.000Z',
      },
    ],
  });
  expect(items.map(({ title, status }) => [title, status])).toEqual([
    ['First', 'in_progress'],
    ['Second', 'canceled'],
    ['Third', 'done'],
  ]);
  expect(items[1]).toMatchObject({ dueDate: '2024-05-01' });
  expect(leftOut).toEqual({
    ...{ template: ['card "Form"'], attachments: ['card "First"'] },
    ...{ 'due of a check item': ['card "First"'], 'idMember of a check item': ['card "First"'] },
  });
});

it('names votes of a card, and attachments and reactions of a comment', async () => {
  const [comment] = board.actions;
  const said = { ...comment, reactions: [{ emoji: 'x' }], limits: { reactions: { total: 1 } } };
  const actions = [
    { ...said, data: { ...comment?.data, attachment: { name: 'a.png' }, textData: { emoji: {} } } },
  ];
  const cards = [{ id: id('a'), name: 'First', idList: 'l1', idMembersVoted: ['m1'] }];
  expect((await read('trello', { ...board, cards, checklists: [], actions })).unimportedFields).toEqual({
    idMembersVoted: ['card "First"'],
    'attachment of a comment': ['card "First"'],
    'reactions of a comment': ['card "First"'],
  });
});

it('cards that are marked as complete are done, and a card without a name is found by its address', async () => {
  const cards = [
    { id: id('a'), name: 'Complete', idList: 'l1', pos: 1, dueComplete: true },
    { id: id('b'), name: 'Archived', idList: 'l1', pos: 2, dueComplete: true, closed: true },
    { id: id('c'), name: 'Open', idList: 'l1', pos: 3, dueComplete: false },
    { id: id('d'), name: ' ', desc: 'Text', idList: 'l1', pos: 4, shortUrl: 'https://trello.com/c/y' },
  ];
  const { items, survey } = await read('trello', { ...board, cards });
  expect(items.map(({ status }) => status)).toEqual(['done', 'done', 'in_progress']);
  expect(survey.refused).toEqual([{ place: 'card https://trello.com/c/y', why: 'title: must not be empty' }]);
});

it('says where the actions of a board may have been cut', async () => {
  const actions = Array.from({ length: 1000 }, (_, place) => ({ ...board.actions[1], id: `y${place}` }));
  expect((await read('trello', { ...board, actions })).survey.notes).toEqual([
    'The file has 1,000 actions, the most that Trello exports; older comments may be missing.',
  ]);
  await expect(read('trello', {})).rejects.toThrow('not a Trello board export');
});
