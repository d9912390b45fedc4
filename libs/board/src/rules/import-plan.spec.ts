import { expect, it } from '@jest/globals';
import { hashFields } from './import-merge.ts';
import { type ImportCandidate, planImport } from './import-plan.ts';

const [old, now] = [hashFields(['old']), hashFields(['now'])];
const first = { column: {}, status: 'backlog' } as const;
const importedState = { hash: old, version: 1 };
const story = { id: 's', version: 1, isWorkedOn: false };
const refused = { path: 'column', message: 'No such column.' };

function candidate(changes: Partial<ImportCandidate> = {}): ImportCandidate {
  const unknown = { noted: undefined, story: undefined, place: null, refused: undefined };
  return { externalId: 'a', hash: now, ...unknown, findUnmetGateNames: () => [], ...changes };
}
const cases: [title: string, candidates: ImportCandidate[], planned: string[]][] = [
  ['a new item', [candidate()], ['create']],
  ['an item that is there already', [candidate({ noted: importedState, story })], ['update']],
  ['the same again', [candidate({ noted: { hash: now, version: 1 }, story })], ['unchanged']],
  ['one item twice', [candidate(), candidate()], ['create', 'duplicate externalId']],
  [
    'two items of one story',
    [candidate({ noted: importedState, story }), candidate({ externalId: 'b', noted: importedState, story })],
    ['update', 'kept externalId'],
  ],
  ['a story that was deleted here', [candidate({ noted: importedState })], ['kept externalId']],
  ['a place that the board does not have', [candidate({ refused })], ['refused column']],
  [
    'an unchanged item without a place',
    [candidate({ noted: { hash: now, version: 1 }, refused })],
    ['unchanged'],
  ],
  [
    'a status without a column',
    [candidate({ place: { column: null, status: 'ready' } })],
    ['refused status'],
  ],
  ['a canceled item', [candidate({ place: { column: null, status: 'canceled' } })], ['create']],
  [
    'a closed gate',
    [candidate({ noted: importedState, story, findUnmetGateNames: () => ['spec'] })],
    ['kept status'],
  ],
  ['a closed gate of a new item', [candidate({ findUnmetGateNames: () => ['spec'] })], ['create']],
];

it.each(cases)('plans %s', (_title, candidates, planned) => {
  const plan = planImport(candidates, { theirs: false, first });
  expect(
    plan.map(([, change]) => ('issue' in change ? `${change.kind} ${change.issue.path}` : change.kind)),
  ).toEqual(planned);
});

it('lets the source win over local changes if it is told to', () => {
  const changed = candidate({ noted: importedState, story: { ...story, version: 2 } });
  const kinds = [false, true].map((theirs) => planImport([changed], { theirs, first })[0]?.[1].kind);
  expect(kinds).toEqual(['kept', 'update']);
});

it('refuses a new story that names no place on a board without a backlog', () => {
  const plan = planImport([candidate()], { theirs: false, first: { column: null, status: 'backlog' } });
  expect(plan[0]?.[1]).toMatchObject({ kind: 'refused', issue: { path: 'status' } });
});
