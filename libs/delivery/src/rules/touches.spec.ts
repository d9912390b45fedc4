import { describe, expect, it } from '@jest/globals';
import { compareWithTouches } from './touches.ts';

describe('the changed files of work', () => {
  it('are compared with paths, globs and folders, and names take no part', () => {
    const touches = ['src/auth', 'docs/*.md', 'src/auth/login.ts', 'test/**/*.spec.ts', 'name:deploy'];
    expect(compareWithTouches(['src/auth/login.ts', 'docs/a.md', 'docs/b/c.md', 'srcs'], touches)).toEqual({
      outside: ['docs/b/c.md', 'srcs'],
      untouched: ['test/**/*.spec.ts'],
    });
  });

  it.each([
    [[], ['src']],
    [['a.ts'], []],
    [['a.ts'], ['name:deploy']],
  ])('%j are not compared with %j', (files, touches) => {
    expect(compareWithTouches(files, touches)).toBeNull();
  });

  it('are literal, whatever characters they contain', () => {
    expect(compareWithTouches(['app/[id].tsx'], ['app/i.tsx', 'app/\\[id\\].tsx'])).toEqual({
      outside: [],
      untouched: ['app/i.tsx'],
    });
  });

  it('are not compared with patterns that take too long', () => {
    const hard = Array.from({ length: 50 }, (_, index) => `${'**/*a*b/'.repeat(20)}${index}*`);
    const files = Array.from({ length: 500 }, (_, index) => `${'aab/'.repeat(80)}${index}`);
    expect(compareWithTouches(files, hard)).toBeNull();
  });
});
