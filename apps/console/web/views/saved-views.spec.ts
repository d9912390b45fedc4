import { expect, it } from '@jest/globals';
import { type View } from '@muster/contract';
import { type BoardSearch } from '../board/filter.ts';
import { isModified, toSearch, toViewFields } from './saved-views.ts';

const stamps = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', version: 1 };
const owner = { id: 'o', name: 'Ana', handle: 'ana' };
const view = (search: BoardSearch, projectId: string | null = 'p'): View => {
  const { filter, ...fields } = toViewFields(search, projectId === null);
  return { id: 'v', name: 'A view', projectId, owner, shared: false, filter, ...fields, ...stamps };
};

it('saves the whole state of an address, and brings it back', () => {
  const search: BoardSearch = {
    ...{ layout: 'table', group: 'epic', sort: 'dueDate', columns: ['status', 'dueDate'] },
    ...{ q: 'pay', who: ['me', 'a'], label: ['bug'], priority: ['high'], work: ['overdue'] },
    ...{ status: ['ready'], epic: 'e', column: 'c', parent: 'WEB-1', due: '2026-05-01', waits: false },
  };
  const saved = view(search);
  expect(saved.filter).toMatchObject({ assigneeId: ['me', 'a'], state: ['overdue'], hasOpenBlockers: false });
  expect(toSearch(saved)).toEqual({ ...search, view: 'v' });
  expect(isModified(toSearch(saved), saved)).toBe(false);
});

it('knows an address that shows something else than its view', () => {
  const saved = view({ layout: 'list', label: ['bug'] });
  const opened = toSearch(saved);
  expect(isModified({ ...opened, columns: ['status'] }, saved)).toBe(false);
  const others: BoardSearch[] = [
    ...[{ label: ['ops'] }, { layout: 'table' }, { group: 'none' }, { sort: 'created' }, { q: 'x' }],
  ] as BoardSearch[];
  expect(others.filter((change) => !isModified({ ...opened, ...change }, saved))).toEqual([]);
});

it('takes the filters of views that the API made, with one value each', () => {
  const filter = { assigneeId: 'me', agentId: 'robo', priority: 'high', label: 'bug', status: 'done' };
  expect(toSearch({ ...view({ layout: 'list' }), groupBy: null, filter })).toEqual({
    ...{ view: 'v', layout: 'list', group: 'none', sort: 'board', who: ['me', 'robo'] },
    ...{ priority: ['high'], label: ['bug'], status: ['done'] },
  });
});
