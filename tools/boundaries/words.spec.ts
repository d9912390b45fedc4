// Tests that no comment and no exported name of the product has one of the unused words of docs/glossary.md.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(workspaceRoot, file), 'utf8');

const projects = ['apps', 'libs'].flatMap((parent) =>
  readdirSync(path.join(workspaceRoot, parent)).map((name) => `${parent}/${name}`),
);

/** Returns the first column of the table of words that are not used. */
function unusedWords(page: string): string[] {
  const [, section = ''] = page.split('## Words that are not used');
  const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.flatMap((row) => (row.split('|')[1] ?? '').split(',')).map((word) => word.trim());
}

const words = new Set(unusedWords(read('docs/glossary.md')));

/** Finds unused words as whole parts of a name: `createCrowd` has the parts create and crowd. */
const partsOf = (text: string): string[] =>
  text
    .split(/(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+/)
    .map((part) => part.toLowerCase())
    .filter((part) => words.has(part));

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

function exportedNames(file: ts.SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(file));
    const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
    return name === undefined ? [] : [name.text];
  });
}

/** Returns each comment once. Text within a string that looks like a comment is not one. */
function commentsOf(file: ts.SourceFile): string[] {
  const { text } = file;
  const found = new Map<number, string>();
  const note = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const { pos, end } of ranges ?? []) found.set(pos, text.slice(pos, end));
  };
  const visit = (node: ts.Node): void => {
    if (node.getChildCount(file) === 0) {
      note(ts.getLeadingCommentRanges(text, node.getFullStart()));
      note(ts.getTrailingCommentRanges(text, node.end));
    }
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return [...found.values()];
}

/** Returns `file: word` for each occurrence in a project's source. */
function foundIn(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
  return [...exportedNames(file), ...commentsOf(file)].flatMap((said) =>
    partsOf(said).map((word) => `${name}: ${word} in ${said.slice(0, 80)}`),
  );
}

const foundInProject = (project: string): string[] =>
  globSync(`${project}/src/**/*.ts`, { cwd: workspaceRoot })
    .filter((file) => !file.endsWith('.spec.ts') && !file.includes('generated'))
    .flatMap((file) => foundIn(file, read(file)));

describe('words that are not used', () => {
  it('are found in comments and exported names, as whole words, and in nothing else', () => {
    const text = `
      /** Whoever calls. */
      export const createCrowd = (nobody: number) => \`// somebody \${nobody}\`; // the house
      export interface Warehouse { audience: string }
      const telling = 1;`;
    expect(foundIn('a.ts', text).map((found) => found.split(' ')[1])).toEqual(['crowd', 'whoever', 'house']);
  });

  it.each(projects)('are not in %s', (project) => {
    expect(foundInProject(project)).toEqual([]);
  });
});

describe('the glossary', () => {
  it('says of each such word what is written instead', () => {
    const [, section = ''] = read('docs/glossary.md').split('## Words that are not used');
    const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) expect(row).toMatch(/^\| [a-z][a-z, ]* +\| [^|]+ \|$/);
  });
});
