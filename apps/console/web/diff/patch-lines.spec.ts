import { describe, expect, it } from '@jest/globals';
import { parsePatch } from './patch-lines.ts';

describe('the lines of a patch', () => {
  it('have their numbers before and after the change', () => {
    const patch =
      '@@ -3,3 +3,3 @@ function sum() {\n a\n-b\n+--- c\n d\n\\ No newline at end of file\n@@ -90 +90,0 @@\n-x';
    expect(parsePatch(patch)).toEqual([
      { kind: 'hunk', text: '@@ -3,3 +3,3 @@ function sum() {', oldLine: null, newLine: null },
      { kind: 'context', text: 'a', oldLine: 3, newLine: 3 },
      { kind: 'deleted', text: 'b', oldLine: 4, newLine: null },
      { kind: 'added', text: '--- c', oldLine: null, newLine: 4 },
      { kind: 'context', text: 'd', oldLine: 5, newLine: 5 },
      { kind: 'note', text: 'No newline at end of file', oldLine: null, newLine: null },
      { kind: 'hunk', text: '@@ -90 +90,0 @@', oldLine: null, newLine: null },
      { kind: 'deleted', text: 'x', oldLine: 90, newLine: null },
    ]);
  });
});
