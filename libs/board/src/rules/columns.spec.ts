import { describe, expect, it } from '@jest/globals';
import { type ColumnStatus, storyStatuses } from '@muster/contract';
import fc from 'fast-check';
import {
  countsByStatus,
  defaultColumns,
  sortColumnsByIds,
  isRequiredColumn,
  findMovedColumns,
  getActiveColumns,
} from './columns.ts';

const status = fc.constantFrom<ColumnStatus>('backlog', 'ready', 'in_progress', 'in_review', 'done');
const column = fc.record({
  id: fc.uuid(),
  position: fc.nat(20),
  status,
  archived_at: fc.constantFrom(null, '2026-11-21T09:30:00.000Z'),
});
const columns = fc.uniqueArray(column, { selector: ({ id }) => id, maxLength: 12 });
const shuffled = columns.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
);

describe('the columns of a board', () => {
  it('begin with one for each status that a column can stand for', () => {
    expect(defaultColumns.map((plan) => plan.status)).toEqual(
      storyStatuses.filter((one) => one !== 'canceled'),
    );
  });

  it('stand from left to right, without those taken off the board', () => {
    fc.assert(
      fc.property(shuffled, ([all, mixed]) => {
        const active = getActiveColumns(mixed);
        expect(active).toEqual(getActiveColumns(all));
        expect(new Set(active)).toEqual(new Set(all.filter(({ archived_at }) => archived_at === null)));
        expect(active.map(({ position }) => position)).toEqual(
          active.map(({ position }) => position).toSorted((a, b) => a - b),
        );
      }),
    );
  });

  it('stand at 0, 1, 2 … once the misplaced ones are put right, and only those change', () => {
    fc.assert(
      fc.property(columns, (all) => {
        const moved = findMovedColumns(all);
        for (const one of moved) expect(all.find(({ id }) => id === one.id)?.position).not.toBe(one.position);
        const right = all.map((one) => moved.find(({ id }) => id === one.id) ?? one);
        expect(right.map(({ position }) => position)).toEqual(all.map((_, index) => index));
        expect(findMovedColumns(right)).toEqual([]);
      }),
    );
  });

  it('take any order that names each once', () => {
    fc.assert(
      fc.property(shuffled, ([all, mixed]) => {
        expect(
          sortColumnsByIds(
            all,
            mixed.map(({ id }) => id),
          ),
        ).toEqual(mixed);
      }),
    );
  });

  it('take no order that leaves one out, names one twice or names a strange one', () => {
    fc.assert(
      fc.property(columns, fc.nat(), fc.uuid(), (all, at, strange) => {
        fc.pre(all.length > 0 && all.every(({ id }) => id !== strange));
        const ids = all.map(({ id }) => id);
        const index = at % ids.length;
        expect(sortColumnsByIds(all, ids.toSpliced(index, 1))).toBeUndefined();
        expect(sortColumnsByIds(all, [...ids, ids[index] ?? ''])).toBeUndefined();
        expect(sortColumnsByIds(all, ids.with(index, strange))).toBeUndefined();
        expect(sortColumnsByIds(all, [...ids, strange])).toBeUndefined();
        if (ids.length > 1)
          expect(sortColumnsByIds(all, ids.with(index, ids[(index + 1) % ids.length] ?? ''))).toBeUndefined();
      }),
    );
  });

  it('cannot lose the last one for backlog or for done', () => {
    fc.assert(
      fc.property(columns, (all) => {
        for (const one of all) {
          const left = all.filter(({ id }) => id !== one.id).map((other) => other.status);
          const needed = one.status === 'backlog' || one.status === 'done';
          expect(isRequiredColumn(all, one)).toBe(needed && !left.includes(one.status));
        }
      }),
    );
  });

  it('count each story once, under all six statuses', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ status, story_count: fc.nat(1000) })),
        fc.nat(1000),
        (all, canceled) => {
          const counts = countsByStatus(all, canceled);
          expect(Object.keys(counts)).toEqual([...storyStatuses]);
          const sum = all.reduce((total, { story_count }) => total + story_count, canceled);
          expect(Object.values(counts).reduce((total, count) => total + count)).toBe(sum);
          expect(counts.canceled).toBe(canceled);
        },
      ),
    );
  });
});
