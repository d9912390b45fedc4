import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addDependenciesWithoutCycles,
  hashFields,
  decideMerge,
  type StoryDependency,
} from './import-merge.ts';

const [old, now] = [hashFields(['old']), hashFields(['now'])];
const existingRecord = (version: number, isWorkedOn = false) => ({ version, isWorkedOn });

describe('of the source before, the source now and the record here', () => {
  it.each([
    ['never put', undefined, undefined, false, 'create'],
    ['source the same', { hash: now, version: 1 }, existingRecord(1), false, 'unchanged'],
    ['source the same, changed here', { hash: now, version: 1 }, existingRecord(2), false, 'unchanged'],
    [
      'source the same, changed here, theirs',
      { hash: now, version: 1 },
      existingRecord(2),
      true,
      'unchanged',
    ],
    ['source the same, deleted here', { hash: now, version: 1 }, undefined, true, 'unchanged'],
    ['source new, untouched here', { hash: old, version: 1 }, existingRecord(1), false, 'update'],
    ['source new, changed here', { hash: old, version: 1 }, existingRecord(2), false, 'keep changed'],
    ['source new, changed here, theirs', { hash: old, version: 1 }, existingRecord(2), true, 'update'],
    ['source new, deleted here', { hash: old, version: 1 }, undefined, false, 'keep deleted'],
    ['source new, deleted here, theirs', { hash: old, version: 1 }, undefined, true, 'create'],
    [
      'source new, worked on here',
      { hash: old, version: 1 },
      existingRecord(1, true),
      false,
      'keep worked_on',
    ],
    [
      'source new, worked on here, theirs',
      { hash: old, version: 1 },
      existingRecord(1, true),
      true,
      'keep worked_on',
    ],
    ['a mirror that no import made', { hash: null, version: 0 }, existingRecord(1), false, 'keep changed'],
  ] as const)('%s', (_case, noted, record, theirs, wanted) => {
    const verdict = decideMerge(noted, record, now, theirs);
    expect('because' in verdict ? `${verdict.kind} ${verdict.because}` : verdict.kind).toBe(wanted);
  });
});

describe('waits', () => {
  const node = fc.integer({ min: 0, max: 6 }).map(String);
  const wait = fc.record({ storyId: node, blockerId: node });

  it('are added as long as none waits for itself, by whatever way; each is added, there, or in a circle', () => {
    fc.assert(
      fc.property(fc.array(wait, { maxLength: 25 }), (wanted) => {
        const { addedDependencies: added, cyclicDependencies: circles } = addDependenciesWithoutCycles(
          [],
          wanted,
        );
        // The added dependencies have an order in which each story comes after its blockers.
        const left = new Set(added);
        for (let before = -1; left.size !== before;) {
          before = left.size;
          for (const one of left)
            if (![...left].some(({ storyId }) => storyId === one.blockerId)) left.delete(one);
        }
        expect([...left]).toEqual([]);
        const isThere = ({ storyId, blockerId }: StoryDependency): boolean =>
          added.some((one) => one.storyId === storyId && one.blockerId === blockerId);
        for (const one of wanted) expect(isThere(one) !== circles.has(one)).toBe(true);
      }),
    );
  });

  it('are added to the last, however long a line they stand in', () => {
    // With quadratic cost this test would not finish: the chain is ten times as long as a project allows.
    const line = Array.from({ length: 200_000 }, (_, index) => ({
      storyId: String(index + 1),
      blockerId: String(index),
    }));
    const { addedDependencies: added, cyclicDependencies: circles } = addDependenciesWithoutCycles(
      line.slice(0, 10),
      line,
    );
    expect([added.length, circles.size]).toEqual([line.length - 10, 0]);
  });
});
