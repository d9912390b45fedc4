import { describe, expect, it } from '@jest/globals';
import { withFilter } from '../board/filter.ts';
import { parseActivityFilter, parseAuditFilter, isDay } from './trail-filter.ts';
import { dayStart, parseSince } from '../pages/trail-bounds.ts';

const actor = '01990000-0000-7000-8000-000000000001';

describe('the filter of a trail', () => {
  it('is what an address says, without what is no filter', () => {
    const whole = { actor, kind: 'work', project: 'WEB', story: 'WEB-12', since: 'week' };
    expect(parseActivityFilter({ ...whole, other: 'x' })).toEqual(whole);
    expect(parseActivityFilter({ kind: 'story.statusChanged', since: '2027-02-28' })).toEqual({
      ...{ kind: 'story.statusChanged', since: '2027-02-28' },
    });
    const wrong = { actor: 'Ana', kind: 'a b', project: '1', story: 'WEB', since: 'always' };
    expect(parseActivityFilter(wrong)).toEqual({});
    expect(parseActivityFilter({ actor: 5, kind: null, project: ['WEB'], since: {} })).toEqual({});
    const audit = {
      actor,
      outcome: 'denied',
      operation: 'tokens.create',
      from: '2027-01-01',
      to: '2027-01-31',
    };
    expect(parseAuditFilter({ ...audit, kind: 'work' })).toEqual(audit);
    expect(parseAuditFilter({ outcome: 'maybe', operation: ' ', from: '2027-02-30', to: 'now' })).toEqual({});
  });

  it('knows the days that there are', () => {
    expect(isDay('2028-02-29')).toBe(true);
    for (const none of ['2027-02-29', '2027-06-31', '2027-13-01', '2027-1-1', ''])
      expect(isDay(none)).toBe(false);
  });

  it('is narrowed by a field, and widened without it', () => {
    const one = withFilter<{ a?: string; b?: string }, 'b'>({ a: '1' }, 'b', '2');
    expect(one).toEqual({ a: '1', b: '2' });
    expect(withFilter(one, 'a', undefined)).toEqual({ b: '2' });
    expect(withFilter(one, 'a', '')).toEqual({ b: '2' });
  });

  it('reaches back by a span, or to where a day of the reader begins', () => {
    const now = Date.parse('2027-03-10T12:00:00Z');
    expect(parseSince('day', now)).toBe('2027-03-09T12:00:00.000Z');
    expect(parseSince('week', now)).toBe('2027-03-03T12:00:00.000Z');
    expect(parseSince('2027-03-01', now)).toBe(new Date(2027, 2, 1).toISOString());
    expect(dayStart('2027-12-31', 1)).toBe(new Date(2028, 0, 1).toISOString());
  });
});
