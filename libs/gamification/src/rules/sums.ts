/** Calculates the changes of the stored sums for a part of the ledger. */
import { type CountedPoints, type AwardedPoints } from './ledger.ts';

export const periods = ['week', 'month', 'all'] as const;
export type Period = (typeof periods)[number];

const dayMs = 86_400_000;
const utcDayOfMillis = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Returns the UTC day of a time. */
export const utcDayOf = (at: string): string => at.slice(0, 10);

/**
 * Returns the first UTC day of the period that contains a time. Weeks begin on Monday, and all time begins in
 * 1970.
 */
export function periodStartOf(period: Period, at: string): string {
  const day = utcDayOf(at);
  if (period === 'all') return '1970-01-01';
  if (period === 'month') return `${day.slice(0, 8)}01`;
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  return utcDayOfMillis(midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * dayMs);
}

export interface TallyChange {
  readonly memberId: string;
  readonly kind: string;
  points: number;
  times: number;
}
export interface ScoreChange {
  readonly period: Period;
  readonly startsOn: string;
  readonly scopeId: string;
  readonly memberId: string;
  points: number;
}
export interface DayChange {
  readonly memberId: string;
  readonly day: string;
  points: number;
}

export interface SumChanges {
  readonly tallies: readonly TallyChange[];
  readonly scores: readonly ScoreChange[];
  readonly days: readonly DayChange[];
}

/** Returns the map's value for the key. If the key is missing, it creates and stores the value. */
function getOrCreate<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const existing = map.get(key) ?? make();
  map.set(key, existing);
  return existing;
}

/**
 * Adds up the changes. Each sum appears once, and unchanged sums are left out. Points taken back are
 * subtracted from the periods in which they were given.
 */
export function computeSumChanges(orgId: string, { awarded, revoked }: CountedPoints): SumChanges {
  const tallies = new Map<string, TallyChange>();
  const scores = new Map<string, ScoreChange>();
  const days = new Map<string, DayChange>();

  const add = (entry: AwardedPoints, sign: 1 | -1): void => {
    const { memberId, kind, projectId, at } = entry;
    const points = sign * entry.points;
    const tally = getOrCreate(tallies, `${memberId} ${kind}`, () => ({
      memberId,
      kind,
      points: 0,
      times: 0,
    }));
    tally.points += points;
    tally.times += sign;
    const day = utcDayOf(at);
    getOrCreate(days, `${memberId} ${day}`, () => ({ memberId, day, points: 0 })).points += points;
    for (const scopeId of projectId === null ? [orgId] : [orgId, projectId]) {
      for (const period of periods) {
        const startsOn = periodStartOf(period, at);
        const key = `${period} ${startsOn} ${scopeId} ${memberId}`;
        getOrCreate(scores, key, () => ({ period, startsOn, scopeId, memberId, points: 0 })).points += points;
      }
    }
  };
  for (const entry of awarded) add(entry, 1);
  for (const { award: entry } of revoked) add(entry, -1);

  return {
    tallies: [...tallies.values()].filter(({ times }) => times !== 0),
    scores: [...scores.values()].filter(({ points }) => points !== 0),
    days: [...days.values()].filter(({ points }) => points !== 0),
  };
}
