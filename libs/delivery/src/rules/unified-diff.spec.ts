import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseUnifiedDiff } from './unified-diff.ts';

/** Lets git compare two states of a folder. */
function diffByGit(before: Record<string, string>, change: (folder: string) => void): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-diff-'));
  const environment = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Spec', '-c', 'user.email=spec@example.com', ...args], {
      ...{ cwd: folder, env: environment, encoding: 'utf8' },
    });
  try {
    git('init', '--quiet');
    for (const [name, text] of Object.entries(before)) writeFileSync(path.join(folder, name), text);
    git('add', '.');
    git('commit', '--quiet', '-m', 'Begin');
    change(folder);
    git('add', '--all');
    return git('diff', '--cached', '--find-renames', 'HEAD');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a diff of git', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
  const diff = diffByGit(
    {
      'a b.txt': `${lines}\n`,
      'gone.txt': '-- old\n',
      'moved.txt': lines,
      'pic.bin': 'a\0b',
      'mode.sh': 'x\n',
    },
    (folder) => {
      const write = (name: string, text: string) => {
        writeFileSync(path.join(folder, name), text);
      };
      write('a b.txt', `${lines.replace('line 7', 'diff --git a/x b/x')}\n`);
      rmSync(path.join(folder, 'gone.txt'));
      renameSync(path.join(folder, 'moved.txt'), path.join(folder, 'ä"q.txt'));
      write('pic.bin', 'a\0c');
      write('new.txt', '++ new\n+++ b/other\n');
      write('empty.txt', '');
    },
  );
  const files = parseUnifiedDiff(diff);

  it('has each file once, with its status and its lines', () => {
    expect(files.map(({ patch: _, ...file }) => file)).toEqual([
      ...[
        { path: 'a b.txt', oldPath: null, status: 'modified', additions: 1, deletions: 1, binary: false },
        { path: 'empty.txt', oldPath: null, status: 'added', additions: 0, deletions: 0, binary: false },
        { path: 'gone.txt', oldPath: null, status: 'deleted', additions: 0, deletions: 1, binary: false },
        { path: 'new.txt', oldPath: null, status: 'added', additions: 2, deletions: 0, binary: false },
        { path: 'pic.bin', oldPath: null, status: 'modified', additions: 0, deletions: 0, binary: true },
        {
          ...{ path: 'ä"q.txt', oldPath: 'moved.txt', status: 'renamed' },
          ...{ additions: 0, deletions: 0, binary: false },
        },
      ].map((file) => ({ ...file, truncated: false })),
    ]);
  });

  it('leaves out files with an endless name, quoted or not', () => {
    const name = 'a'.repeat(1_000_000);
    for (const path of [`"b/${name}"`, `b/${name}`])
      expect(parseUnifiedDiff(`diff --git a/x b/x\n--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+x\n`)).toEqual(
        [],
      );
  });

  it('keeps the hunks as they are', () => {
    expect(files[0]?.patch).toMatch(/^@@ -5,7 \+5,7 @@ .*\n(.*\n){3}-line 7\n\+diff --git a\/x b\/x\n/);
    expect(files[3]?.patch).toBe('@@ -0,0 +1,2 @@\n+++ new\n++++ b/other');
    expect(files[4]?.patch).toBeNull();
  });

  it.each(['', 'no diff', 'diff --git ', 'diff --git a b\n@@ x', '"diff', 'diff --git "\\303"'])(
    'is read without an error where it is none: %j',
    (text) => {
      expect(() => parseUnifiedDiff(text)).not.toThrow();
    },
  );
});
