import { describe, expect, it } from '@jest/globals';
import { CatalogVersion } from '@muster/contract';
import fc from 'fast-check';
import semver from 'semver';
import { isVersionOrRange, sortNewestFirst, newestVersionInRange } from './catalog-versions.ts';

const sortVersions = (...versions: string[]): string[] =>
  sortNewestFirst(versions.map((version) => ({ version }))).map(({ version }) => version);

describe('versions', () => {
  it('go newest first, by number and not by letter, pre-releases after all releases', () => {
    expect(
      sortVersions('1.0.0', '1.10.0', '2.0.0-beta.2', '1.9.0', '2.0.0-beta.10', '0.1.0', '3.0.0-alpha'),
    ).toEqual(['1.10.0', '1.9.0', '1.0.0', '0.1.0', '3.0.0-alpha', '2.0.0-beta.10', '2.0.0-beta.2']);
  });

  it('have one order, in whatever order they come', () => {
    const number = fc.nat(3);
    const version = fc
      .tuple(number, number, number, fc.constantFrom('', '-a', '-a.1', '-1'), fc.constantFrom('', '+x', '+y'))
      .map(([major, minor, patch, pre, build]) => `${major}.${minor}.${patch}${pre}${build}`);
    fc.assert(
      fc.property(
        fc
          .uniqueArray(version, { maxLength: 12 })
          .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          expect(sortVersions(...shuffled)).toEqual(sortVersions(...all));
        },
      ),
    );
  });
});

describe('a range', () => {
  const versions = ['1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.1', '2.0.0-rc.2', '0.9.0+linux'];

  it.each([
    ['^1.0.0', '1.10.0'],
    ['1.x', '1.10.0'],
    ['~1.2', '1.2.0'],
    ['<1', '0.9.0+linux'],
    ['0.9.0', '0.9.0+linux'],
    ['>=1.0.0', '1.10.0'],
    ['^2.0.0-rc.1', '2.0.0-rc.2'],
    ['>=1.5.0 || ^2.0.0-rc.1', '1.10.0'],
    ['2.x', undefined],
    ['>3', undefined],
    ['*', '1.10.0'],
  ])('%s means %s', (range, meant) => {
    expect(newestVersionInRange(versions, range)).toBe(meant);
  });

  it('is told from what is none', () => {
    for (const range of ['1', '1.2.3', '^1', '>=1 <3', 'x', '1 - 2'])
      expect([range, isVersionOrRange(range)]).toEqual([range, true]);
    for (const text of ['latest', 'one', '1.2.3.4', '^^1', '>=', "'; drop table", '1.0.0-', '9'.repeat(300)])
      expect([text, isVersionOrRange(text)]).toEqual([text, false]);
  });
});

describe('the version that the contract takes', () => {
  it('is strict: what the standard has and nothing else', () => {
    const good = [
      '0.0.0',
      '1.2.3',
      '1.0.0-alpha.1',
      '1.0.0-0a',
      '1.0.0+build.7',
      '1.0.0-rc.1+sha.5',
      '999999999999999.0.0',
    ];
    const bad = [
      '1',
      '1.2',
      'v1.2.3',
      '=1.2.3',
      '01.2.3',
      '1.2.3-01',
      '1.2.3-',
      '1.2.3+',
      '1.2.3 ',
      ' 1.2.3',
      '1.2.3\n',
      '1.2.3-a..b',
      '9999999999999999.0.0',
      'latest',
      '',
      `1.0.0-${'a'.repeat(130)}`,
    ];
    for (const version of good)
      expect([version, CatalogVersion.safeParse(version).success]).toEqual([version, true]);
    for (const version of bad)
      expect([version, CatalogVersion.safeParse(version).success]).toEqual([version, false]);
  });

  it('is one to the library, too', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9]{1,3}(\.[0-9]{1,2}){1,3}(-[0-9a-z.-]{1,6})?(\+[0-9a-z.]{1,4})?$/),
        (text) => {
          if (CatalogVersion.safeParse(text).success) expect(semver.valid(text)).not.toBeNull();
          else expect(semver.valid(text)).toBeNull();
        },
      ),
    );
  });
});
