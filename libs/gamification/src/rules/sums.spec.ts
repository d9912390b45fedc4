import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AwardedPoints } from './ledger.ts';
import { utcDayOf, periodStartOf, computeSumChanges } from './sums.ts';

describe('periods', () => {
  it.each([
    ['2026-11-21T23:59:59.999Z', '2026-11-16', '2026-11-01'],
    ['2026-11-16T00:00:00.000Z', '2026-11-16', '2026-11-01'],
    ['2026-11-15T23:59:59.999Z', '2026-11-09', '2026-11-01'],
    ['2027-01-01T12:00:00.000Z', '2026-12-28', '2027-01-01'],
    ['2028-02-29T12:00:00.000Z', '2028-02-28', '2028-02-01'],
  ])('of %s begin on %s and %s', (at, week, month) => {
    expect([periodStartOf('week', at), periodStartOf('month', at), periodStartOf('all', at)]).toEqual([
      week,
      month,
      '1970-01-01',
    ]);
  });

  const time = fc
    .date({ min: new Date('1971-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString());

  it('hold the day they begin with: a Monday, at most six days ago; a first', () => {
    fc.assert(
      fc.property(time, (at) => {
        const monday = new Date(periodStartOf('week', at));
        expect(monday.getUTCDay()).toBe(1);
        const days = (Date.parse(utcDayOf(at)) - monday.getTime()) / 86_400_000;
        expect(days).toBeGreaterThanOrEqual(0);
        expect(days).toBeLessThan(7);
        expect(periodStartOf('week', `${periodStartOf('week', at)}T00:00:00.000Z`)).toBe(
          periodStartOf('week', at),
        );
        expect(periodStartOf('month', at)).toBe(`${at.slice(0, 7)}-01`);
      }),
    );
  });
});

describe('the changes of the sums', () => {
  const entry = (changes: Partial<AwardedPoints> = {}): AwardedPoints => ({
    activitySeq: 1,
    memberId: 'ana',
    kind: 'story_done',
    subjectId: 'web-1',
    projectId: 'web',
    points: 10,
    at: '2026-11-21T09:30:00.000Z',
    ...changes,
  });

  it('add up entries of one member, kind, day, period and project', () => {
    const changes = computeSumChanges('acme', {
      awarded: [entry(), entry({ projectId: null, activitySeq: 2 })],
      revoked: [],
    });
    expect(changes.tallies).toEqual([{ memberId: 'ana', kind: 'story_done', points: 20, times: 2 }]);
    expect(changes.days).toEqual([{ memberId: 'ana', day: '2026-11-21', points: 20 }]);
    expect(changes.scores.map(({ period, scopeId, points }) => [period, scopeId, points])).toEqual([
      ['week', 'acme', 20],
      ['month', 'acme', 20],
      ['all', 'acme', 20],
      ['week', 'web', 10],
      ['month', 'web', 10],
      ['all', 'web', 10],
    ]);
  });

  it('take from the periods in which it was given, and name nothing that stays as it was', () => {
    const given = entry({ at: '2026-11-02T09:30:00.000Z' });
    const changes = computeSumChanges('acme', { awarded: [], revoked: [{ award: given, bySeq: 9 }] });
    expect(changes.days).toEqual([{ memberId: 'ana', day: '2026-11-02', points: -10 }]);
    expect(changes.scores.find(({ period }) => period === 'week')).toMatchObject({
      startsOn: '2026-11-02',
      points: -10,
    });
    expect(computeSumChanges('acme', { awarded: [given], revoked: [{ award: given, bySeq: 9 }] })).toEqual({
      tallies: [],
      scores: [],
      days: [],
    });
  });
});
