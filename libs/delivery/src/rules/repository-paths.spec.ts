import { describe, expect, it } from '@jest/globals';
import { touchedFiles } from './repository-paths.ts';

describe('the files of a checkpoint', () => {
  it('are kept as one path each, however they are written', () => {
    expect(
      touchedFiles(['./a', 'a/', 'a//b', 'cafe\u0301.md', 'a', 'app/[id]/x.ts', 'z\u200dw', ' a', '*']),
    ).toEqual(['a', 'a/b', 'caf\u00e9.md', 'app/[id]/x.ts', 'z\u200dw', ' a', '*']);
  });

  it('are refused where they are paths of one machine, each with its place', () => {
    const paths = ['ok', '/a', 'C:/a', 'd:a', 'a\\b', './', '//a'];
    const issues = [1, 2, 3, 4, 5, 6].map((index) =>
      expect.objectContaining({ path: `filesTouched[${index}]` }),
    );
    const details: unknown = expect.objectContaining({ issues });
    expect(() => touchedFiles(paths)).toThrow(expect.objectContaining({ code: 'bad_request', details }));
  });
});
