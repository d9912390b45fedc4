import { describe, expect, it } from '@jest/globals';
import { colorPatch } from './code-parts.ts';
import { parsePatch } from './patch-lines.ts';

const patch = [
  '@@ -1,3 +1,4 @@',
  ' /* A comment',
  '-   on old lines */',
  '+   with <b>"tags"</b> & more */',
  "+const name = 'it';",
  ' return name;',
].join('\n');
const lines = parsePatch(patch);

describe('the colors of a patch', () => {
  const colored = colorPatch('src/a.ts', lines);

  it('keep the text of each line as it is', () => {
    for (const [index, { kind, text }] of lines.entries())
      if (kind !== 'hunk') expect(colored[index]?.map((part) => part.text).join('')).toBe(text);
  });

  it('continue over lines of the same side', () => {
    const classesOf = (index: number) => colored[index]?.map(({ tokenClass }) => tokenClass);
    expect(classesOf(2)).toEqual(['hljs-comment']);
    expect(classesOf(3)).toEqual(['hljs-comment']);
    expect(classesOf(4)).toContain('hljs-keyword');
    expect(classesOf(5)).toContain('hljs-keyword');
  });

  it('are left out of unknown languages and long patches', () => {
    const isPlain = (path: string, of = lines) => colorPatch(path, of).every((parts) => parts === undefined);
    expect(isPlain('LICENSE.unknown')).toBe(true);
    expect(isPlain('a.ts', parsePatch(`@@ -0,0 +1 @@\n+${'x'.repeat(50_001)}`))).toBe(true);
  });
});
