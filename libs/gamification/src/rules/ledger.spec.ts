import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CountedPoints, countPoints, type AwardedPoints, type LedgerContext } from './ledger.ts';
import { type PointActivity } from './points.ts';

const emptyContext: LedgerContext = {
  validPoints: [],
  assigneeBySeq: new Map(),
  resetSeqByMember: new Map(),
};
const at = '2026-11-21T09:30:00.000Z';
const statusChangeActivity = (
  seq: number,
  from: string,
  to: string,
  who = 'ana',
  subjectId = 'web-1',
): PointActivity => ({
  seq,
  kind: 'story.statusChanged',
  actorMemberId: who,
  projectId: 'web',
  subjectId,
  data: { from, to, columnId: null },
  at,
});
const done = (seq: number, who?: string, subjectId?: string) =>
  statusChangeActivity(seq, 'in_review', 'done', who, subjectId);
const reopenedActivity = (seq: number, who?: string, subjectId?: string) =>
  statusChangeActivity(seq, 'done', 'ready', who, subjectId);

const keyOf = (entry: AwardedPoints) => `${entry.activitySeq} ${entry.memberId} ${entry.kind}`;
/** Returns the valid points after a count. */
const applyCountedPoints = (
  before: readonly AwardedPoints[],
  { awarded, revoked }: CountedPoints,
): AwardedPoints[] => {
  const gone = new Set(revoked.map((entry) => keyOf(entry.award)));
  return [...before, ...awarded].filter((entry) => !gone.has(keyOf(entry)));
};
const pointsOf = (entries: readonly AwardedPoints[], memberId?: string): number =>
  entries.reduce(
    (sum, entry) => sum + (memberId === undefined || entry.memberId === memberId ? entry.points : 0),
    0,
  );

describe('counting', () => {
  it('gives a done story to whoever it was assigned to, else to whoever did it', () => {
    const counted = countPoints([done(1, 'ben'), done(2, 'ben', 'web-2')], {
      ...emptyContext,
      assigneeBySeq: new Map([[1, 'chloe']]),
    });
    expect(counted.awarded.map(({ memberId, subjectId, points }) => [memberId, subjectId, points])).toEqual([
      ['chloe', 'web-1', 10],
      ['ben', 'web-2', 10],
    ]);
  });

  it('gives the system nothing', () => {
    expect(countPoints([{ ...done(1), actorMemberId: null }], emptyContext).awarded).toEqual([]);
  });

  it('takes back what done gave when the story is opened again, whoever opens it, and only once', () => {
    const counted = countPoints(
      [done(1, 'ana'), reopenedActivity(2, 'ben'), reopenedActivity(3, 'ben')],
      emptyContext,
    );
    expect(counted.revoked).toEqual([{ award: counted.awarded[0], bySeq: 2 }]);
    expect(applyCountedPoints([], counted)).toEqual([]);
  });

  it('takes back what a story gave when it is deleted while it is done', () => {
    const told = (seq: number, kind: string): PointActivity => ({
      ...done(seq),
      kind,
      data: { status: 'ready' },
    });
    const counted = countPoints(
      [told(1, 'story.created'), done(2, 'ben'), told(3, 'story.deleted')],
      emptyContext,
    );
    expect(counted.awarded.map(({ kind }) => kind)).toEqual(['story_created', 'story_done']);
    expect(applyCountedPoints([], counted)).toEqual([]);
  });

  it('takes back what an earlier count gave', () => {
    const [given] = countPoints([done(1)], emptyContext).awarded;
    const counted = countPoints([reopenedActivity(2)], {
      ...emptyContext,
      validPoints: given === undefined ? [] : [given],
    });
    expect(counted.revoked).toEqual([{ award: given, bySeq: 2 }]);
  });

  it('gives a review once per story and reviewer, and takes back only the own one', () => {
    const decided = (seq: number, who: string, verdict: string): PointActivity => ({
      ...done(seq, who),
      kind: 'review.decided',
      data: { verdict, note: null },
    });
    const counted = countPoints(
      [
        decided(1, 'ana', 'approved'),
        decided(2, 'ana', 'commented'),
        decided(3, 'ben', 'approved'),
        { ...done(4, 'ana'), kind: 'review.retracted', data: { previousVerdict: 'commented' } },
      ],
      emptyContext,
    );
    expect(applyCountedPoints([], counted).map(({ memberId }) => memberId)).toEqual(['ben']);
  });

  it('gives nothing for what was before a reset, and all for what comes after', () => {
    const counted = countPoints([done(1), done(2, 'ben', 'web-2'), done(3, 'ana', 'web-3')], {
      ...emptyContext,
      resetSeqByMember: new Map([['ana', 2]]),
    });
    expect(counted.awarded.map(({ activitySeq }) => activitySeq)).toEqual([2, 3]);
  });
});

/** Histories in which members finish and reopen stories in any order. */
const history = fc
  .array(
    fc.record({
      story: fc.constantFrom('web-1', 'web-2', 'web-3'),
      who: fc.constantFrom('ana', 'ben', 'chloe'),
      isDone: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((steps) => {
    const isDone = new Map<string, boolean>();
    return steps.flatMap((step, index) => {
      // A story's status only changes to a different status.
      if ((isDone.get(step.story) ?? false) === step.isDone) return [];
      isDone.set(step.story, step.isDone);
      return [(step.isDone ? done : reopenedActivity)(index + 1, step.who, step.story)];
    });
  });

describe('any history', () => {
  it('leaves ten points per story that is done in the end: what was undone was never counted', () => {
    fc.assert(
      fc.property(history, (occurrences) => {
        const last = new Map(occurrences.map((occurrence) => [occurrence.subjectId, occurrence]));
        const doneInTheEnd = [...last.values()].filter(({ data }) => data['to'] === 'done');
        const standing = applyCountedPoints([], countPoints(occurrences, emptyContext));
        expect(pointsOf(standing)).toBe(10 * doneInTheEnd.length);
        for (const { actorMemberId } of doneInTheEnd)
          expect(pointsOf(standing, actorMemberId ?? '')).toBeGreaterThanOrEqual(10);
      }),
    );
  });

  it('comes to the same counted at once or in pieces', () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 40 }), (occurrences, cut) => {
        const first = applyCountedPoints([], countPoints(occurrences.slice(0, cut), emptyContext));
        const second = applyCountedPoints(
          first,
          countPoints(occurrences.slice(cut), { ...emptyContext, validPoints: first }),
        );
        expect(second).toEqual(applyCountedPoints([], countPoints(occurrences, emptyContext)));
      }),
    );
  });

  it('counted again from any earlier point takes nothing back that stands, and gives nobody anything anew', () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 40 }), (occurrences, from) => {
        const all = countPoints(occurrences, emptyContext);
        const standing = applyCountedPoints([], all);
        const again = countPoints(occurrences.slice(from), { ...emptyContext, validPoints: standing });
        // Entries that the ledger already contains are not new, and points that were already taken back are
        // not taken back again.
        const had = new Set(all.awarded.map(keyOf));
        expect(again.awarded.filter((entry) => !had.has(keyOf(entry)))).toEqual([]);
        const stands = new Set(standing.map(keyOf));
        expect(again.revoked.filter((entry) => stands.has(keyOf(entry.award)))).toEqual([]);
      }),
    );
  });
});
