import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ActivityItem, type AuditEntry, registry, type StorySummary } from '@muster/registry';
import { Check } from '../check.ts';
import { type Findings } from '../gather.ts';
import { type Call, Journal } from '../journal.ts';
import { type Team, type Teammate } from '../team.ts';
import { noteStory, type Tour } from '../tour-state.ts';
import { checkAnswers } from './answers.ts';
import { checkBoard } from './board.ts';
import { judgeList, type Reading } from './lists.ts';
import { checkTrail } from './trail.ts';

// A check that cannot fail proves nothing: a tour with two stories on which everything holds, and then one thing does not.

const id = (number: number): string => `01936d5c-0000-7000-8000-${number.toString().padStart(12, '0')}`;
const projectId = id(1);
const [backlog, done] = [id(11), id(12)];
const at = '2026-11-21T09:30:00.000Z';
const dates = { createdAt: at, updatedAt: at, version: 1 };
const actor = { kind: 'member' as const, memberId: id(21), agentId: null, name: 'Ana' };

const storyAt = (number: number, more: Partial<StorySummary>): StorySummary => ({
  ...{ id: id(100 + number), key: `TOUR-${number}`, number, projectId, title: `Story ${number}` },
  ...{
    status: 'backlog',
    columnId: backlog,
    rank: `a${number}`,
    epicId: null,
    priority: 'none',
    labels: ['x'],
  },
  ...{ estimate: null, blockedBy: [], blocked: null, specVersion: 0, git: null, upstream: null },
  ...{ createdBy: actor, completedAt: null, ...dates, ...more },
});

const column = (columnId: string, status: 'backlog' | 'done', position: number, storyCount: number) => ({
  ...{ id: columnId, projectId, name: status, status, position, storyCount },
  ...{ wipLimit: null, archivedAt: null, ...dates },
});

interface Scene {
  readonly tour: Tour;
  readonly findings: Findings;
}

/** Story 1 came from the file; story 2 was created and then moved to done. */
function fineScene(): Scene {
  const journal = new Journal('http://nowhere', 'spec');
  const [one, two] = [storyAt(1, {}), storyAt(2, { status: 'done', columnId: done, version: 2 })];
  const call = (number: number, operation: Call['operation'], more: Partial<Call>): Call => ({
    ...{ requestId: `spec-${number}`, caller: actor, operation, params: {}, key: null, known: undefined },
    ...{
      sentAt: number * 10,
      answeredAt: number * 10 + 5,
      status: 200,
      reason: null,
      replayed: false,
      result: {},
    },
    ...more,
  });
  const born = { ...two, status: 'backlog', columnId: backlog, version: 1, description: '' };
  const moved = { ...two, description: '' };
  journal.calls.push(
    call(1, registry.stories.create, { result: { story: born } }),
    call(2, registry.stories.updateStatus, {
      ...{ params: { storyId: two.id }, result: { story: moved, warnings: [] } },
      known: { id: two.id, version: 1, status: 'backlog', rank: two.rank },
    }),
    call(3, registry.projects.delete, { status: 403, reason: 'role' }),
  );
  const subject = { type: 'story', id: two.id, key: two.key, title: two.title };
  const item = (number: number, kind: string, data: Record<string, unknown>): ActivityItem => ({
    ...{ id: id(200 + number), kind, actor, projectId, subject, data, at },
  });
  const activity = [
    item(2, 'story.statusChanged', { from: 'backlog', to: 'done', columnId: done }),
    item(1, 'story.created', { status: 'backlog' }),
  ];
  const entry = (number: number, operation: string, outcome: 'allowed' | 'denied'): AuditEntry => ({
    ...{ id: id(300 + number), at, actor, tokenId: id(31), operation, target: null, outcome },
    ...{ reason: null, ip: null, userAgent: null, requestId: `spec-${number}`, details: null },
  });
  const audit = [
    entry(3, 'projects.delete', 'denied'),
    entry(2, 'stories.updateStatus', 'allowed'),
    entry(1, 'stories.create', 'allowed'),
    entry(0, 'operators.createOrganization', 'allowed'),
  ];
  const rowsOf = (items: readonly { id: string }[]) =>
    items.toReversed().map((row, index) => ({ seq: index + 1, id: row.id }));
  const tour = {
    ...{ journal, projectId, team: { operatorActs: 1, neighbour: {} as Teammate } as Team },
    board: {
      path: '',
      name: '',
      epics: [],
      specs: new Map(),
      stories: [{ localId: 's1', title: one.title, status: 'backlog', labels: ['x'] }],
    },
    ...{ storyIds: new Map([['s1', one.id]]), epicIds: new Map<string, string>() },
    ...{ stories: new Map(), specs: new Map(), comments: new Map(), checks: [] },
  } satisfies Tour;
  for (const story of [one, two]) noteStory(tour, { ...story, description: '' });
  return {
    tour,
    findings: {
      project: {
        ...{ id: projectId, key: 'TOUR', name: '', description: '', visibility: 'org', repository: null },
        origin: 'converted',
        archivedAt: null,
        myRole: 'lead',
        ...dates,
      },
      ...{
        counts: { backlog: 1, done: 1 },
        columns: [column(backlog, 'backlog', 0, 1), column(done, 'done', 1, 1)],
      },
      ...{
        epics: [],
        stories: [one, two],
        threads: new Map(),
        activity,
        activityAgain: activity,
        followed: activity,
        audit,
      },
      ...{ activityRows: rowsOf(activity), auditRows: rowsOf(audit) },
    },
  };
}

const allChecks = ({ tour, findings }: Scene): Check[] => [
  ...checkBoard(tour, findings),
  ...checkTrail(tour, findings),
  ...checkAnswers(tour.journal.calls),
];
const failing = (scene: Scene): string[] =>
  allChecks(scene).flatMap(({ holds, name }) => (holds ? [] : [name]));

let fine: Scene;
beforeEach(() => {
  fine = fineScene();
});

/** The scene with other findings. */
const but = (change: Partial<Findings>): Scene => ({ ...fine, findings: { ...fine.findings, ...change } });
const stories = (...changed: Partial<StorySummary>[]): Scene =>
  but({ stories: fine.findings.stories.map((story, index) => ({ ...story, ...changed[index] })) });
const calls = (change: (call: Call) => Partial<Call>): Scene => {
  fine.tour.journal.calls.splice(
    0,
    Infinity,
    ...fine.tour.journal.calls.map((call) => ({ ...call, ...change(call) })),
  );
  return fine;
};

describe('the checks of the tour', () => {
  it('hold where everything is right', () => {
    expect(allChecks(fine).flatMap(({ problems }) => problems)).toEqual([]);
  });

  const [lost, statuses, numbers, places, counts] = [
    /^nothing is lost/,
    /^every status/,
    /^numbers/,
    /^no two/,
    /^the counts/,
  ];
  const [once, order, streams, audit] = [
    /^every acknowledged/,
    /^the activity is in commit/,
    /^the streams/,
    /^the audit/,
  ];
  const spoiled: [string, RegExp, () => Scene][] = [
    ['a story is gone', lost, () => but({ stories: fine.findings.stories.slice(0, 1) })],
    ['a title is another', lost, () => stories({ title: 'Other' })],
    ['a label is missing', lost, () => stories({ labels: [] })],
    ['a story has a status that nothing led to', statuses, () => stories({ status: 'ready' })],
    ['a number is given twice', numbers, () => stories({}, { number: 1 })],
    ['a number is left out', numbers, () => stories({}, { number: 3, key: 'TOUR-3' })],
    ['two stories have one place', places, () => stories({ columnId: done, rank: 'a2' })],
    ['the board is out of order', places, () => but({ stories: fine.findings.stories.toReversed() })],
    [
      'a column counts wrong',
      counts,
      () => but({ columns: [column(backlog, 'backlog', 0, 2), column(done, 'done', 1, 1)] }),
    ],
    ['a status counts wrong', counts, () => but({ counts: { backlog: 2, done: 1 } })],
    ['an event is missing', once, () => but({ activity: fine.findings.activity.slice(1) })],
    [
      'an event stands twice',
      once,
      () => but({ activity: [...fine.findings.activity, ...fine.findings.activity.slice(0, 1)] }),
    ],
    [
      'an event names another actor',
      once,
      () =>
        but({
          activity: fine.findings.activity.map((item) => ({
            ...item,
            actor: { ...actor, memberId: id(99) },
          })),
        }),
    ],
    ['a later write stands first', order, () => but({ activity: fine.findings.activity.toReversed() })],
    [
      'the table has a gap',
      streams,
      () => but({ activityRows: fine.findings.activityRows.map((row) => ({ ...row, seq: row.seq + 1 })) }),
    ],
    ['a follower missed one', streams, () => but({ followed: fine.findings.followed.slice(1) })],
    [
      'a page repeats one',
      streams,
      () => but({ activityAgain: [...fine.findings.activity, ...fine.findings.activity.slice(1)] }),
    ],
    [
      'a write has no audit entry',
      audit,
      () => but({ audit: fine.findings.audit.filter(({ requestId }) => requestId !== 'spec-2') }),
    ],
    ['a sensitive refusal has none', audit, () => but({ audit: fine.findings.audit.slice(1) })],
    [
      'a write has two',
      audit,
      () => but({ audit: [...fine.findings.audit, ...fine.findings.audit.slice(1, 2)] }),
    ],
    [
      'an answer is a fault',
      /^every call/,
      () => calls(({ status }) => (status === 403 ? { status: 500, reason: 'internal' } : {})),
    ],
    [
      'a call is not answered',
      /^every call/,
      () => calls(({ status }) => (status === 403 ? { status: null } : {})),
    ],
    [
      'a refusal is none of the contract',
      /^every refusal/,
      () => calls(({ status }) => (status === 403 ? { status: 422, reason: 'wip_limit' } : {})),
    ],
  ];
  it.each(spoiled)('see that %s', (_what, name, spoil) => {
    expect(failing(spoil())).toContainEqual(expect.stringMatching(name));
  });
});

describe('a list that was read while others wrote', () => {
  const named = (...keys: string[]) => keys.map((key) => ({ id: key, key }));
  const problemsOf = (reading: Partial<Reading>): string[] => {
    const check = new Check('');
    const start = named('a', 'b', 'c');
    judgeList(check, {
      ...{ sort: 'board', limit: 7, start, items: start, touched: new Set(['c']) },
      ...reading,
    });
    return check.problems;
  };

  it('shows once what nobody touched, and may have lost or doubled what somebody moved', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ items: named('a', 'b') })).toEqual([]);
    expect(problemsOf({ items: named('a', 'c', 'b', 'c') })).toEqual([]);
    expect(problemsOf({ items: named('a', 'c') })).toHaveLength(1);
    expect(problemsOf({ items: named('a', 'b', 'b', 'c') })).toHaveLength(1);
  });

  it('by creation shows once what was there, touched or not', () => {
    expect(problemsOf({ sort: 'created', items: named('new', 'a', 'b', 'c') })).toEqual([]);
    expect(problemsOf({ sort: 'created', items: named('a', 'b') })).toHaveLength(1);
  });

  it('by change shows nothing twice', () => {
    expect(problemsOf({ sort: 'updated', items: named('a', 'b') })).toEqual([]);
    expect(problemsOf({ sort: 'updated', items: named('c', 'a', 'b', 'c') })).toHaveLength(1);
  });
});
