import { describe, expect, it } from '@jest/globals';
import { normalizeResource, problemOfResource } from '@muster/contract/globs';
import fc from 'fast-check';
import { covers } from '../../test/path-oracle.ts';
import { StepBudget, PatternsTooComplex } from './glob-intersection.ts';
import { maxLockedResources, maxCompareSteps } from './lock-limits.ts';
import {
  findConflicts,
  fileResource,
  hasSameResources,
  validateResources,
  parseResource,
  findOverlaps,
  undefinedIfTooComplex,
  findWitness,
} from './lock-resources.ts';

const createStepBudget = (): StepBudget => new StepBudget(1_000_000);
const witness = (a: string, b: string): string | undefined =>
  findWitness(parseResource(a), parseResource(b), createStepBudget());

describe('two resources', () => {
  it.each([
    ['name:db-migrations', 'name:db-migrations', 'name:db-migrations'],
    ['name:db-migrations', 'name:DB-migrations', undefined],
    ['name:a', 'name:*', undefined],
    ['name:src/a.ts', 'src/a.ts', undefined],
    ['name:a', '**', undefined],
    ['src/a.ts', 'src/a.ts', 'src/a.ts'],
    ['src/a.ts', 'src/b.ts', undefined],
    ['src/**', 'src/a.ts', 'src/a.ts'],
    ['src/**/a.ts', 'src/a.ts', 'src/a.ts'],
    ['**/a.ts', 'a.ts', 'a.ts'],
    ['**/**/a.ts', 'a.ts', 'a.ts'],
    ['src/auth', 'src/auth/login.ts', 'src/auth/login.ts'],
    ['src/auth', 'src/auth', 'src/auth'],
    ['src/auth', 'src/author.ts', undefined],
    ['src/auth', 'src', 'src/auth'],
    ['src/auth', '**/*.sql', 'src/auth/.sql'],
    ['src/auth', 'src/*', 'src/auth'],
    ['src/auth', 'lib/**', undefined],
    ['app/\\[id\\]', 'app/\\[id\\]/page.tsx', 'app/[id]/page.tsx'],
    ['app/\\[id\\]', 'app/?id?/page.tsx', 'app/[id]/page.tsx'],
    ['docs/cafe\u0301.md', 'docs/caf\u00e9.md', 'docs/caf\u00e9.md'],
    ['name:a', 'name:a/b', undefined],
    ['src/**', 'srcs/**', undefined],
    ['**/*.ts', '**/*.sql', undefined],
    ['src/\\[id\\].ts', 'src/?id?.ts', 'src/[id].ts'],
    ['a,b', 'a,b', 'a,b'],
  ])('%s and %s: %s', (a, b, expected) => {
    expect(witness(a, b)).toBe(expected);
    expect(witness(b, a)).toBe(expected);
  });

  it('take the name of a file as it is, whatever a pattern would make of it', () => {
    const touching = (file: string, pattern: string): boolean =>
      findWitness(fileResource(file), parseResource(pattern), createStepBudget()) !== undefined;
    expect(touching('app/[id]/page.tsx', 'app/**')).toBe(true);
    expect(touching('app/[id]/page.tsx', 'app/i/page.tsx')).toBe(false);
    expect(touching('app/[id]/page.tsx', 'app/[id]/page.tsx')).toBe(false);
    expect(touching('app/[id]/page.tsx', 'app/\\[id\\]/page.tsx')).toBe(true);
    expect(touching('app/[id]/page.tsx', 'app')).toBe(true);
    expect(touching('app', 'app/i')).toBe(false);
    expect(touching('/etc/passwd', '**')).toBe(false);
    expect(touching('../x', '**')).toBe(false);
  });
});

describe('a resource as it is stored', () => {
  it.each([
    ['./a', 'a'],
    ['././a', 'a'],
    ['.//a', 'a'],
    ['a/', 'a'],
    ['a//', 'a'],
    ['a///b', 'a/b'],
    ['src/**/', 'src/**'],
    ['cafe\u0301/*', 'caf\u00e9/*'],
    ['name:./a//b/', 'name:./a//b/'],
    ['name:cafe\u0301', 'name:caf\u00e9'],
    ['.github', '.github'],
  ])('%j is %j', (asked, stored) => {
    expect(normalizeResource(asked)).toBe(stored);
    expect(normalizeResource(stored)).toBe(stored);
    expect(problemOfResource(stored)).toBeUndefined();
  });

  it.each([
    ...[
      'src\\auth\\x.ts',
      'a\\b',
      'C:/a',
      'c:a',
      '\\\\host\\a',
      '/a',
      '//a',
      './',
      '/',
      '.',
      'a/../b',
      'a/./b',
      'src\\!x',
      'src\\-x',
      'src\\,x',
      'src\\**',
      'src\\!x/{a,b}',
    ],
    ...[
      ' a',
      'a ',
      'a\tb',
      'a\nb',
      'a\u200bb',
      '\ufeffa',
      'a\u202eb',
      'a\u00adb',
      '\u00a0a',
      'name:a\u200bb',
      'name: a',
    ],
  ])('%j is refused', (asked) => {
    expect(problemOfResource(normalizeResource(asked))).toEqual(expect.any(String));
  });

  it.each(['a b', 'app/\\[id\\]', 'a\\*b', 'a\\\\b', '{a\\,b,c}', '[a\\-z]', '日本/語.md', 'a,b', 'a-b!'])(
    '%j is locked as it is',
    (asked) => {
      expect([normalizeResource(asked), problemOfResource(asked)]).toEqual([asked, undefined]);
    },
  );
});

describe('what cannot be locked', () => {
  it('is compared for what it can match where it was locked before it was refused', () => {
    expect(witness('{..,x}/a', '*/a')).toBe('x/a');
    expect(witness('{,x}/a', 'b')).toBeUndefined();
  });

  it('is named with its place', () => {
    const issues = validateResources([
      'src/**',
      '/etc',
      'a/../b',
      'name:',
      'name: x',
      'name:a\nb',
      'name:ok',
      '[',
    ]);
    expect(issues.map(({ path }) => path)).toEqual([1, 2, 3, 4, 5, 7].map((index) => `resources[${index}]`));
    expect(issues[0]).toEqual({
      path: 'resources[1]',
      message: 'must be relative to the root of the repository',
    });
    expect(validateResources(['{..,x}/a', 'x/a'])).toEqual([
      { path: 'resources[0]', message: 'must not contain the segments . or ..: {..,x} can be ..' },
    ]);
    expect(validateResources([`name:${'é'.repeat(200)}`, `name:${'é'.repeat(201)}`])).toHaveLength(1);
  });
});

/** Globs over few letters, so that many of them overlap. */
const letters = fc.constantFrom('a', 'b', 'c');
const segment = fc
  .array(fc.oneof(letters, fc.constantFrom('*', '?', '[ab]', '[!a]', '{a,bb}', '\\a')), {
    minLength: 1,
    maxLength: 3,
  })
  .map((pieces) => pieces.join('').replaceAll(/\*+/g, '*'));
const glob = fc
  .array(fc.oneof({ weight: 4, arbitrary: segment }, { weight: 1, arbitrary: fc.constant('**') }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((segments) => segments.join('/'));
const resource = fc.oneof(
  { weight: 6, arbitrary: glob },
  { weight: 1, arbitrary: letters.map((letter) => `name:${letter}`) },
);
const claim = fc.record({
  mode: fc.constantFrom('exclusive' as const, 'shared' as const),
  resources: fc.array(resource, { minLength: 1, maxLength: 3 }),
});

const names = ['a', 'b', 'c', 'aa', 'ab', 'bb', 'bba', 'abb'];
const paths = names.flatMap((one) => [
  one,
  ...names.flatMap((two) => [`${one}/${two}`, ...['a', 'b', 'bb'].map((three) => `${one}/${two}/${three}`)]),
]);

describe('any two claims', () => {
  it('clash where brute force finds something that both are about, and only with a witness that both take', () => {
    const tally = { clash: 0, free: 0 };
    fc.assert(
      fc.property(claim, claim, (a, b) => {
        const clashes = findConflicts(a, [b], createStepBudget(), 50);
        tally[clashes.length > 0 ? 'clash' : 'free'] += 1;
        for (const { resource: asked, otherResource: held, witness: both } of clashes) {
          expect([asked.text, held.text, both, covers(asked.text, both), covers(held.text, both)]).toEqual([
            asked.text,
            held.text,
            both,
            true,
            true,
          ]);
          expect([a.resources.includes(asked.text), b.resources.includes(held.text)]).toEqual([true, true]);
        }
        const things = [...paths, 'name:a', 'name:b', 'name:c'];
        const isIn = (claimed: string[], thing: string) => claimed.some((text) => covers(text, thing));
        const met = things.find((thing) => isIn(a.resources, thing) && isIn(b.resources, thing));
        const share = a.mode === 'shared' && b.mode === 'shared';
        if (share) expect(clashes).toEqual([]);
        else if (met !== undefined) expect([a, b, met, clashes.length > 0]).toEqual([a, b, met, true]);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(tally.clash, tally.free)).toBeGreaterThan(200);
  });

  it('clash alike from either side', () => {
    fc.assert(
      fc.property(claim, claim, (a, b) => {
        expect(findConflicts(a, [b], createStepBudget(), 1).length).toBe(
          findConflicts(b, [a], createStepBudget(), 1).length,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('sets of resources', () => {
  it('are the same in any order, and however often one is named', () => {
    expect(hasSameResources(['a', 'b'], ['b', 'a', 'a'])).toBe(true);
    expect(hasSameResources(['a', 'b'], ['a'])).toBe(false);
    expect(hasSameResources(['a', 'a'], ['a', 'b'])).toBe(false);
  });
});

describe('as much as may be locked at once', () => {
  const asked = Array.from({ length: 50 }, (_, n) => `${['new/*.m', '**/*.n', 'p/*/n'][n % 3] ?? ''}${n}`);
  const held = Array.from({ length: maxLockedResources }, (_, n) => ({
    mode: 'exclusive' as const,
    resources: [`${['old/*.m', '**/*.o', 'q/*/o'][n % 3] ?? ''}${n}`],
  }));

  it('is compared within the steps that one comparison has', () => {
    const met = [...held, { mode: 'exclusive' as const, resources: ['new/*.m0'] }];
    expect(
      findConflicts({ mode: 'exclusive', resources: asked }, met, new StepBudget(maxCompareSteps), 50),
    ).toMatchObject([{ witness: 'new/.m0' }]);
  });

  it('is given up where patterns were made to be slow, and never taken for free', () => {
    const slow = (char: string) =>
      Array.from({ length: 50 }, (_, n) => parseResource(`${`*${char}`.repeat(100)}${n}*`));
    const decide = () => findOverlaps(slow('a'), slow('b'), new StepBudget(maxCompareSteps), 50);
    expect(decide).toThrow(PatternsTooComplex);
    expect(undefinedIfTooComplex(decide)).toBeUndefined();
  });
});
