import { describe, expect, it } from '@jest/globals';
import { type ConflictSource } from '@muster/contract';
import fc from 'fast-check';
import { covers } from '../../test/path-oracle.ts';
import { StepBudget } from './glob-intersection.ts';
import {
  type CoveredResources,
  createWaitingCheck,
  findConflictingStories,
  findStoryConflict,
  resourcesOfOthers,
  shortestPrefixes,
  touchedResources,
} from './story-conflicts.ts';

const createStepBudget = (): StepBudget => new StepBudget(1_000_000);
const covered = (
  storyId: string | null,
  source: ConflictSource,
  ...resources: string[]
): CoveredResources => ({
  ...{ storyId, source, resources },
  areFiles: source === 'files',
});
const conflictOf = (touches: string[], others: CoveredResources[], stepBudget = createStepBudget()) =>
  findStoryConflict(
    { storyId: 'own', touches: touchedResources(touches) },
    resourcesOfOthers(others),
    stepBudget,
  );
const story = (id: string, ...resources: CoveredResources[]) => ({ id, resources });
const pairsOf = (
  stories: ReturnType<typeof story>[],
  { maxPairs = 1_000, stepBudget = createStepBudget(), leftOut = '' } = {},
) => {
  const isLeftOut = (a: { id: string }, b: { id: string }) => [a.id, b.id].sort().join('') === leftOut;
  const { pairs, isComplete } = findConflictingStories(stories, {
    isExcludedPair: isLeftOut,
    stepBudget,
    maxPairs,
  });
  return { pairs: pairs.map(({ a, b, witness, source }) => [a.id, b.id, witness, source]), isComplete };
};

/** All paths of a small repository, up to four segments long. */
const names = ['a', 'b', 'c'];
const childPathsOf = (paths: readonly string[]) =>
  paths.flatMap((path) => names.map((name) => `${path}/${name}`));
const levels = [
  names,
  childPathsOf(names),
  childPathsOf(childPathsOf(names)),
  childPathsOf(childPathsOf(childPathsOf(names))),
];
const allPaths = levels.flat();
/** Patterns that share a path only if they share one of the small repository. */
const pattern = fc.constantFrom(
  ...[
    'a',
    'b',
    'a/b',
    'a/b/c',
    'c/a',
    'b/**',
    '**/a',
    'a/*',
    '*/b',
    'a/{b,c}/a',
    '[ab]/c',
    '*/*/c',
    'c/**/b',
  ],
);
const touches = fc.uniqueArray(pattern, { minLength: 1, maxLength: 3 });
const sharePath = (one: readonly string[], other: readonly string[]): boolean =>
  allPaths.some((path) => [one, other].every((side) => side.some((resource) => covers(resource, path))));

describe('a story conflicts', () => {
  it('with a path that others cover, and names it', () => {
    const others = [covered('far', 'touches', 'lib/**'), covered('near', 'lock', 'src/a', 'name:x')];
    expect(conflictOf(['src/a/login.ts'], others)).toEqual({ witness: 'src/a/login.ts', with: others[1] });
    expect(conflictOf(['name:x'], others)).toEqual({ witness: 'name:x', with: others[1] });
    expect(conflictOf(['docs/**'], others)).toBeUndefined();
  });

  it('with the names of files as they are', () => {
    expect(conflictOf(['app/i/page.tsx'], [covered('near', 'files', 'app/[id]/page.tsx')])).toBeUndefined();
    expect(conflictOf(['app/**'], [covered('near', 'files', 'app/[id]/page.tsx')])?.witness).toBe(
      'app/[id]/page.tsx',
    );
  });

  it('not with its own work', () => {
    expect(conflictOf(['src/a'], [covered('own', 'files', 'src/a')])).toBeUndefined();
  });

  it('where the patterns are too expensive to compare', () => {
    const others = [covered('near', 'touches', '**/*a*b*c*d*')];
    expect(conflictOf(['**/*d*c*b*a*'], others, new StepBudget(10))).toEqual({ witness: null, with: null });
  });

  it('where the budget of the whole search is exhausted, even if its own is not', () => {
    const search = new StepBudget(10);
    const others = [covered('near', 'touches', '**/*a*b*c*d*')];
    expect(conflictOf(['name:docs'], others, new StepBudget(1_000, search))).toBeUndefined();
    for (let nth = 1; nth <= 2; nth += 1)
      expect(conflictOf(['**/*d*c*b*a*'], others, new StepBudget(1_000, search))?.witness).toBeNull();
    expect(search.isExhausted).toBe(true);
    expect(conflictOf(['name:docs'], others, new StepBudget(1_000, search))?.witness).toBeNull();
  });

  it('exactly if a path of the repository is in both', () => {
    fc.assert(
      fc.property(touches, touches, (mine, theirs) => {
        const found = conflictOf(mine, [covered('near', 'touches', ...theirs)]);
        expect(found !== undefined).toBe(sharePath(mine, theirs));
        const witness = found?.witness;
        if (witness == null) return;
        for (const side of [mine, theirs]) expect(side.some((one) => covers(one, witness))).toBe(true);
      }),
    );
  });
});

describe('the shortest prefixes', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '😀', '\uffff'), maxLength: 5 });
  const meets = (prefixes: readonly string[], one: string): boolean =>
    prefixes.some((prefix) => prefix.startsWith(one) || one.startsWith(prefix));

  it('are met by the same texts, and none begins with another', () => {
    expect(shortestPrefixes(['src/a', 'lib/', 'src/', 'lib/', 'src/b.ts'])).toEqual(['lib/', 'src/']);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), text, (prefixes, one) => {
        const shortest = shortestPrefixes(prefixes);
        expect(meets(shortest, one)).toBe(meets(prefixes, one));
        for (const prefix of shortest)
          expect(shortest.filter((other) => prefix.startsWith(other))).toEqual([prefix]);
      }),
    );
  });
});

describe('pairs of stories', () => {
  it('are listed once, with the source that comes first in order', () => {
    const one = story('1', covered('1', 'touches', 'src/**'), covered('1', 'lock', 'src/a.ts'));
    const two = story('2', covered('2', 'files', 'src/a.ts'), covered('2', 'touches', 'src/b.ts'));
    const three = story('3', covered('3', 'pull_request', 'src/c.ts'));
    expect(pairsOf([one, two, three])).toEqual({
      pairs: [
        ['1', '2', 'src/b.ts', 'touches'],
        ['1', '3', 'src/c.ts', 'pull_request'],
      ],
      isComplete: true,
    });
    expect(pairsOf([one, two, three], { leftOut: '12' }).pairs).toEqual([
      ['1', '3', 'src/c.ts', 'pull_request'],
    ]);
  });

  it('stop at the maximum number, and at the budget', () => {
    const stories = ['1', '2', '3'].map((id) => story(id, covered(id, 'touches', 'src/**/*a*b')));
    const { pairs, isComplete } = pairsOf(stories, { maxPairs: 2 });
    expect([pairs.length, isComplete]).toEqual([2, false]);
    expect(pairsOf(stories, { maxPairs: 3 }).isComplete).toBe(true);
    expect(pairsOf(stories, { stepBudget: new StepBudget(3) })).toEqual({ pairs: [], isComplete: false });
  });

  it('are exactly those that share a path', () => {
    fc.assert(
      fc.property(fc.array(touches, { maxLength: 8 }), (boards) => {
        const stories = boards.map((own, nth) => story(`${nth}`, covered(`${nth}`, 'touches', ...own)));
        const expected = boards.flatMap((one, nth) =>
          boards.flatMap((other, at) => (nth < at && sharePath(one, other) ? [`${nth} ${at}`] : [])),
        );
        const found = pairsOf(stories).pairs.map(([a, b]) => `${a} ${b}`);
        expect(found.sort()).toEqual(expected.sort());
      }),
    );
  });
});

it('one of two stories waits for the other, directly or through others', () => {
  const waits = createWaitingCheck([
    { storyId: 'c', blockerId: 'b' },
    { storyId: 'b', blockerId: 'a' },
    { storyId: 'd', blockerId: 'a' },
  ]);
  expect([waits('c', 'a'), waits('a', 'c'), waits('a', 'b'), waits('c', 'd'), waits('d', 'b')]).toEqual([
    ...[true, true, true, false, false],
  ]);
});
