import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergeFields, withoutUpdate } from './plan-merge.ts';

describe('mergeFields', () => {
  it('writes what changed in the plan alone, and keeps what changed on the board', () => {
    const base = { title: 'A', estimate: 1, labels: ['x'], status: 'ready', dueDate: null };
    const planned = { title: 'B', estimate: 2, labels: ['x'], status: 'done', dueDate: null };
    const current = { title: 'A', estimate: 5, labels: ['y'], status: 'done', dueDate: null };
    expect(mergeFields(base, planned, current)).toEqual({
      updated: ['title'],
      kept: ['estimate', 'labels'],
      base: { title: 'B', estimate: 1, labels: ['x'], status: 'done', dueDate: null },
    });
  });

  it('leaves omitted fields alone', () => {
    const base = { title: 'A', estimate: 1 };
    expect(mergeFields(base, { title: undefined }, { title: 'Z', estimate: 3 })).toEqual({
      updated: [],
      kept: [],
      base,
    });
  });

  it('can be repeated: a second merge updates nothing and keeps the same fields', () => {
    const values = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom(1, 2, null, 'x'));
    fc.assert(
      fc.property(values, values, values, (base, planned, current) => {
        const first = mergeFields(base, planned, current);
        const board = { ...current };
        for (const field of first.updated) board[field] = planned[field] ?? null;
        const second = mergeFields(first.base, planned, board);
        expect(second).toEqual({ updated: [], kept: first.kept, base: first.base });
        // A field that only the board changed is never overwritten.
        for (const field of first.updated) expect(base[field]).toEqual(current[field]);
      }),
    );
  });
});

describe('withoutUpdate', () => {
  it('keeps the base of fields that could not be written', () => {
    const base = { title: 'A', status: 'ready' };
    const merge = mergeFields(base, { title: 'B', status: 'done' }, base);
    expect(withoutUpdate(merge, base, 'status')).toEqual({
      updated: ['title'],
      kept: [],
      base: { title: 'B', status: 'ready' },
    });
  });
});
