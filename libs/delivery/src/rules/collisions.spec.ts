import { describe, expect, it } from '@jest/globals';
import { findCollisions } from './collisions.ts';
import { StepBudget, PatternsTooComplex } from './glob-intersection.ts';

const holder = { kind: 'member', memberId: null, agentId: null, name: 'Ben' } as const;
const lock = (id: string, own: boolean, ...resources: string[]) => ({
  ...{ id, own, resources, mode: 'exclusive' as const },
  ...{ storyId: null, holder },
});
const work = (executionId: string, ...files: string[]) => ({ executionId, storyId: 's', holder, files });
const findPaths = (
  files: string[],
  locks: ReturnType<typeof lock>[],
  works: ReturnType<typeof work>[],
  most = 100,
) => findCollisions({ files }, { locks, otherWorks: works }, new StepBudget(100_000), most);

describe('the work on a story collides', () => {
  it('with locks of others on its files, and not with its own', () => {
    const locks = [
      lock('own', true, 'src/**'),
      lock('other', false, 'src/a.*', 'name:x'),
      lock('far', false, 'lib/**'),
    ];
    expect(findPaths(['src/a.ts', 'docs/x.md'], locks, [])).toEqual({
      collisions: [{ path: 'src/a.ts', kind: 'lock', id: 'other', storyId: null, holder }],
      more: false,
    });
  });

  it('with files of other work that it touched or has locked', () => {
    const { collisions } = findPaths(
      ['a.ts'],
      [lock('own', true, 'src/**')],
      [work('w', 'a.ts', 'src/b.ts', 'c.ts')],
    );
    expect(collisions.map(({ path, kind, id, storyId }) => [path, kind, id, storyId])).toEqual([
      ['a.ts', 'execution', 'w', 's'],
      ['src/b.ts', 'execution', 'w', 's'],
    ]);
  });

  it('not with locks that overlap with its own: those are one holder’s, or are shared', () => {
    const locks = [lock('own', true, 'src/**', 'name:db'), lock('other', false, 'src/**', 'name:db')];
    expect(findPaths([], locks, []).collisions).toEqual([]);
  });

  it('once per path and other, however often both name it', () => {
    const locks = [lock('own', true, 'a.ts', 'a.*'), lock('other', false, 'a.*', '*.ts')];
    const { collisions } = findPaths(['a.ts'], locks, [work('w', 'a.ts')]);
    expect(collisions.map(({ id }) => id)).toEqual(['w', 'other']);
  });

  it('and is said to collide with more where there is more', () => {
    expect(findPaths(['a', 'b', 'c'], [], [work('w', 'a', 'b', 'c')], 2)).toMatchObject({
      collisions: [{ path: 'a' }, { path: 'b' }],
      more: true,
    });
  });

  it('or it cannot be told, which is never taken for none', () => {
    const locks = [lock('other', false, `${'*a'.repeat(200)}*b`)];
    const files = Array.from({ length: 10 }, (_, n) => `${'a'.repeat(500)}${n}b`);
    expect(() => findPaths(files, locks, [])).toThrow(PatternsTooComplex);
  });
});
