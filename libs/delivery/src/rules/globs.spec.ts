import { describe, expect, it } from '@jest/globals';
import { checkGlob, MalformedGlob, parseGlob } from '@muster/contract/globs';
import fc from 'fast-check';
import { matchesGlob as matches } from '../../test/path-oracle.ts';
import { commonPath, StepBudget, PatternsTooComplex } from './glob-intersection.ts';

const witness = (a: string, b: string): string | undefined =>
  commonPath(parseGlob(a), parseGlob(b), new StepBudget(1_000_000));

describe('two globs clash exactly if some path matches both', () => {
  it.each([
    ['src/auth/login.ts', 'src/auth/login.ts', true],
    ['src/auth/login.ts', 'src/auth/Login.ts', false],
    ['src/auth/**', 'src/auth/login.ts', true],
    ['src/auth/**', 'src/auth', false],
    ['src/**', '**/*.sql', true],
    ['src/**/test.ts', 'src/test.ts', true],
    ['**/*.sql', 'src/**/*.ts', false],
    ['packages/*/package.json', 'packages/api/*', true],
    ['packages/*/package.json', 'packages/package.json', false],
    ['*.ts', 'src/*.ts', false],
    ['a*b', 'ab*', true],
    ['a*c', '*bd', false],
    ['?', 'ab', false],
    ['file.{ts,tsx}', 'file.ts?', true],
    ['file.{ts,js}', 'file.css', false],
    ['[a-f]1', '[d-z]1', true],
    ['[a-c]1', '[d-z]1', false],
    ['[!a-z]', '[a-z]', false],
    ['[!a-z]', '[a-z0]', true],
    ['.env', '*', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['**', '.github/workflows/ci.yml', true],
    ['**/a/**', 'b/**', true],
    ['{a,b}{c,d}', 'bd', true],
    // No file is called `.` or `..`.
    ['?', '.*', false],
    ['??', '.{.,x}', true],
    ['..?', '.?*', true],
  ])('%s and %s: %s', (a, b, clash) => {
    const found = witness(a, b);
    expect(found !== undefined).toBe(clash);
    expect(witness(b, a) !== undefined).toBe(clash);
    if (found !== undefined)
      expect([matches(a, found), matches(b, found), found]).toEqual([true, true, found]);
  });

  it('take a character beyond the first plane for one', () => {
    expect(witness('?', '😀')).toBe('😀');
    expect(witness('??', '😀')).toBeUndefined();
  });

  it('says so with a path that reads well', () => {
    expect(witness('src/**', '**/*.sql')).toBe('src/.sql');
    expect(witness('src/auth/**', 'src/*/login.ts')).toBe('src/auth/login.ts');
  });
});

function isMalformed(pattern: string): boolean {
  try {
    checkGlob(pattern);
    return false;
  } catch (error) {
    if (error instanceof MalformedGlob) return true;
    throw error;
  }
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', '.', 'ab') },
  { weight: 3, arbitrary: fc.constantFrom('*', '?', '[ab]', '[!a]', '[a-b]') },
  { weight: 1, arbitrary: fc.constantFrom('{a,b}', '{a,bb}', '{ab,?}', '{.,b}', '{,a}') },
);
const segment = fc
  .array(piece, { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join('').replaceAll(/\*+/g, '*'))
  .filter((text) => !isMalformed(text));
const glob = fc
  .array(fc.oneof({ weight: 3, arbitrary: segment }, { weight: 1, arbitrary: fc.constant('**') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((segments) => segments.join('/'));

/** Generates every path of up to three segments of up to two characters, over a small alphabet. */
function* smallPaths(): Generator<string> {
  const names: string[] = [];
  for (const first of ['a', 'b', '.', 'c']) {
    names.push(first);
    for (const second of ['a', 'b', '.', 'c']) names.push(first + second);
  }
  const valid = names.filter((name) => name !== '.' && name !== '..');
  for (const one of valid) {
    yield one;
    for (const two of valid) {
      yield `${one}/${two}`;
      if (two.length === 1) for (const three of ['a', 'b', '.a']) yield `${one}/${two}/${three}`;
    }
  }
}
const paths = [...smallPaths()];

describe('any two globs', () => {
  it('have a witness that an independent matcher takes for both', () => {
    let clashes = 0;
    fc.assert(
      fc.property(glob, glob, (a, b) => {
        const found = witness(a, b);
        if (found === undefined) return;
        clashes += 1;
        expect([a, b, found, matches(a, found), matches(b, found)]).toEqual([a, b, found, true, true]);
      }),
      { numRuns: 3_000 },
    );
    expect(clashes).toBeGreaterThan(300);
  });

  it('miss no path that brute force finds', () => {
    let free = 0;
    fc.assert(
      fc.property(glob, glob, (a, b) => {
        if (witness(a, b) !== undefined) return;
        free += 1;
        const both = paths.filter((path) => matches(a, path) && matches(b, path));
        expect([a, b, both]).toEqual([a, b, []]);
      }),
      { numRuns: 300 },
    );
    expect(free).toBeGreaterThan(100);
  });

  it('clash with themselves, and whichever comes first', () => {
    fc.assert(
      fc.property(glob, glob, (a, b) => {
        expect(witness(a, b) === undefined).toBe(witness(b, a) === undefined);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a pattern that is no glob over repository paths is refused', () => {
  it.each([
    '',
    '/etc/passwd',
    'a//b',
    './a',
    'a/',
    '../a',
    'a/../b',
    'a/.',
    '.',
    '..',
    '/',
    'a**',
    '**b/c',
    '{a}',
    '{a,b',
    'a}',
    '[a',
    'a]',
    '[]',
    '[z-a]',
    'a\\',
    '{a/b,c}',
    '[a/b]',
    'a\\/b',
    '{**,a}',
    '{'.repeat(9) + 'a,b' + '}'.repeat(9),
  ])('%s', (pattern) => {
    expect(() => checkGlob(pattern)).toThrow(MalformedGlob);
  });
});

describe('a segment of a glob', () => {
  it.each([
    ['\\./a', 'must not contain the segments . or ..: \\. can be .'],
    ['\\.\\./a', 'must not contain the segments . or ..: \\.\\. can be ..'],
    ['a/\\../b', 'must not contain the segments . or ..: \\.. can be ..'],
    ['a/{..,x}/a', 'must not contain the segments . or ..: {..,x} can be ..'],
    ['{.,x}/a', 'must not contain the segments . or ..: {.,x} can be .'],
    ['{x,{y,\\.}}/a', 'must not contain the segments . or ..: {x,{y,\\.}} can be .'],
    ['.{.,a}', 'must not contain the segments . or ..: .{.,a} can be ..'],
    ['{,x}.', 'must not contain the segments . or ..: {,x}. can be .'],
    ['{,a}{.,b}{.,c}', 'must not contain the segments . or ..: {,a}{.,b}{.,c} can be ..'],
    ['[.]', 'must not contain the segments . or ..: [.] can be .'],
    ['[.][.-.]/a', 'must not contain the segments . or ..: [.][.-.] can be ..'],
    ['{..,*}', 'must not contain the segments . or ..: {..,*} can be ..'],
    ['{,x}/a', 'must not have an empty segment or end with a slash: {,x} can be empty'],
    ['a/{,x}/b', 'must not have an empty segment or end with a slash: {,x} can be empty'],
    ['a/{,x}', 'must not have an empty segment or end with a slash: {,x} can be empty'],
    ['{,*}', 'must not have an empty segment or end with a slash: {,*} can be empty'],
    ['..', 'must not contain the segments . or ..'],
    ['a/', 'must not have an empty segment or end with a slash'],
  ])(
    'is refused where braces, escapes or classes spell what no segment of a path is: %s',
    (pattern, problem) => {
      expect(() => checkGlob(pattern)).toThrow(new MalformedGlob(problem));
    },
  );

  it.each([
    ...[
      '{a,b}.ts',
      'src/{a,b}/**',
      '.github/**',
      '.{eslintrc,prettierrc}',
      'a{,b}/c',
      '{,b}a',
      '...',
      '.{..,a}',
    ],
    ...[
      '*',
      '?',
      '??',
      '.*',
      '.?',
      '[a-z.]',
      '[.a][.a]',
      '[!a]',
      '*{,x}',
      '{*,x}',
      '{.a,b.}',
      '\\*',
      '**/a',
      '**',
    ],
  ])('is good where it spells names alone, or may only match something else: %s', (pattern) => {
    expect(isMalformed(pattern)).toBe(false);
  });

  it('is refused exactly where one of the texts that its braces can be is nothing, . or ..', () => {
    const tally = { refused: 0, good: 0 };
    fc.assert(
      fc.property(spelling, ({ text, texts }) => {
        const isRefused = texts.some((one) => ['', '.', '..'].includes(one));
        tally[isRefused ? 'refused' : 'good'] += 1;
        expect([text, isMalformed(text)]).toEqual([text, isRefused]);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(tally.refused, tally.good)).toBeGreaterThan(200);
  });
});

/** A piece of a segment, with all texts that its braces, escapes and one-character classes expand to. */
interface Spelling {
  readonly text: string;
  readonly texts: readonly string[];
}
const concatenate = (parts: readonly Spelling[]): Spelling => ({
  text: parts.map(({ text }) => text).join(''),
  texts: parts.reduce<readonly string[]>(
    (heads, { texts }) => heads.flatMap((head) => texts.map((tail) => head + tail)),
    [''],
  ),
});
const toBraceAlternatives = (options: readonly Spelling[]): Spelling => ({
  text: `{${options.map(({ text }) => text).join(',')}}`,
  texts: options.flatMap(({ texts }) => texts),
});
const character: fc.Arbitrary<Spelling> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('.', '\\.', '[.]').map((text) => ({ text, texts: ['.'] })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('a', '?', '[.a]', '[!.]').map((text) => ({ text, texts: [text] })),
  },
);
const sequenceOf = (part: fc.Arbitrary<Spelling>, minLength: number): fc.Arbitrary<Spelling> =>
  fc.array(part, { minLength, maxLength: 3 }).map(concatenate);
const bracesOf = (part: fc.Arbitrary<Spelling>): fc.Arbitrary<Spelling> =>
  fc.array(sequenceOf(part, 0), { minLength: 2, maxLength: 3 }).map(toBraceAlternatives);
const spelling = sequenceOf(
  fc.oneof(
    character,
    bracesOf(fc.oneof({ weight: 4, arbitrary: character }, { weight: 1, arbitrary: bracesOf(character) })),
  ),
  1,
);

describe('patterns made to be slow', () => {
  it('are given up, never taken for no clash', () => {
    const slow = '*a'.repeat(200);
    const other = '*b'.repeat(200);
    expect(() => commonPath(parseGlob(slow), parseGlob(other), new StepBudget(10_000))).toThrow(
      PatternsTooComplex,
    );
  });
});
