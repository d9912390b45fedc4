/** Reads the hunks of a patch into lines with their numbers before and after the change. */

export interface PatchLine {
  readonly kind: 'hunk' | 'context' | 'added' | 'deleted' | 'note';
  readonly text: string;
  /** The line number before the change; null for added lines. */
  readonly oldLine: number | null;
  /** The line number after the change; null for deleted lines. */
  readonly newLine: number | null;
}

const hunkPattern = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parsePatch(patch: string): PatchLine[] {
  let [oldLine, newLine] = [0, 0];
  return patch.split('\n').map((line): PatchLine => {
    const [, before, after] = hunkPattern.exec(line) ?? [];
    if (before !== undefined && after !== undefined) {
      [oldLine, newLine] = [Number(before), Number(after)];
      return { kind: 'hunk', text: line, oldLine: null, newLine: null };
    }
    const text = line.slice(1);
    switch (line.charAt(0)) {
      case '+':
        return { kind: 'added', text, oldLine: null, newLine: newLine++ };
      case '-':
        return { kind: 'deleted', text, oldLine: oldLine++, newLine: null };
      case '\\':
        return { kind: 'note', text: text.trim(), oldLine: null, newLine: null };
      default:
        return { kind: 'context', text, oldLine: oldLine++, newLine: newLine++ };
    }
  });
}
