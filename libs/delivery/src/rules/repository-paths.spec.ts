import { describe, expect, it } from '@jest/globals';
import { normalizeTouchedFiles } from './repository-paths.ts';

describe('the files of a checkpoint', () => {
  it('are kept as one path each, however they are written', () => {
    expect(
      normalizeTouchedFiles([
        './a',
        'a/',
        'a//b',
        'cafe\u0301.md',
        'a',
        'app/[id]/x.ts',
        'z\u200dw',
        ' a',
        '*',
        '.a',
        '...',
      ]),
    ).toEqual(['a', 'a/b', 'caf\u00e9.md', 'app/[id]/x.ts', 'z\u200dw', ' a', '*', '.a', '...']);
  });

  it('are refused where they are paths of one machine, each with its place', () => {
    const paths = ['ok', '/a', 'C:/a', 'd:a', 'a\\b', './', '//a', 'src/a.ts\r'];
    paths.push('src/../src/a.ts', 'src/./a.ts', '..', 'a/..', 'a\nb');
    const issues = paths
      .slice(1)
      .map((_, index) => expect.objectContaining({ path: `filesTouched[${index + 1}]` }));
    const details: unknown = expect.objectContaining({ issues });
    expect(() => normalizeTouchedFiles(paths)).toThrow(
      expect.objectContaining({ code: 'bad_request', details }),
    );
  });
});
