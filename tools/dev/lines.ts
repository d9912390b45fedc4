// npm run lines: counts lines of code of the product and of the tools, without blank lines, comments and
// generated files. The product is the TypeScript of apps and libs without their specs, their `test/`,
// libs/examples and libs/testing.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from './repository.ts';

/**
 * Counts the lines that hold code. Comments do not count, but text within a string that looks like one does.
 */
export function codeLinesOf(file: string, text: string): number {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const counted = new Set<number>();
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    for (const child of children) visit(child);
    if (children.length > 0 || node.getWidth(source) === 0) return;
    for (let line = lineAt(node.getStart(source)); line <= lineAt(node.end); line += 1) {
      if (lines[line]?.trim() !== '') counted.add(line);
    }
  };
  visit(source);
  return counted.size;
}

/**
 * Returns the row of the table in which the lines of a file are counted. Undefined if the file is not
 * counted.
 */
export function rowOf(file: string): 'apps' | 'libs' | 'tools' | undefined {
  if (file.includes('.generated.')) return undefined;
  if (/^tools\/.+\.(ts|mjs)$/.test(file)) return 'tools';
  if (/\.spec\.tsx?$|\/test\/|^libs\/(examples|testing)\//.test(file)) return undefined;
  const area = /^(apps|libs)\/.+\.tsx?$/.exec(file)?.[1];
  return area === 'apps' || area === 'libs' ? area : undefined;
}

function printTable(): void {
  const totals = { apps: 0, libs: 0, tools: 0 };
  const listed = execFileSync('git', ['ls-files', '-z', 'apps', 'libs', 'tools'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0')) {
    const row = rowOf(file);
    if (row === undefined) continue;
    totals[row] += codeLinesOf(file, readFileSync(path.join(repositoryRoot, file), 'utf8'));
  }
  const { apps, libs, tools } = totals;
  for (const [name, lines] of Object.entries({ apps, libs, product: apps + libs, tools }))
    process.stdout.write(`${name.padEnd(10)}${String(lines).padStart(8)}\n`);
}

if (import.meta.main) printTable();
