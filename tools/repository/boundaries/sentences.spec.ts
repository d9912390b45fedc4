/**
 * Checks the shape of sentences and names: no comment starts with an interrogative clause, no sentence is longer than
 * 40 words, and no two files export the same type name.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const maxWords = 40;
const wordsBeforeWarning = 25;

/** A leading "When …," or "Where …," is a subordinate clause before the subject of the sentence. */
const startsWithQuestion = (text: string): boolean =>
  /^(what|whatever|who|whom|whose|whether|which|how|why)\b(?!-)/i.test(text) ||
  /^(when|where)\b[^,.]*(\.|$)/i.test(text);

/** Removes the marks of a comment, and ends its paragraphs, list items and table rows like sentences. */
const textOf = (comment: string): string =>
  comment
    .replaceAll(/^\/\*\*?|\*\/$|^[ \t]*(\*|\/\/)[ \t]?/gm, '')
    .replaceAll(/\n\s*(?=\n|[-*\d|])/g, '. ')
    .trim();

const isWord = (word: string): boolean => /^["'“‘(]*[\p{L}\p{N}'’/-]+["'”’).,:;!?…]*$/u.test(word);

/** Returns the number of words of the longest sentence. SQL and code are not sentences. */
function longestSentence(text: string): number {
  const lengths = text.split(/[.!?:;]["')\]]*\s+/).map((sentence) => {
    const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    return words.filter(isWord).length > 0.85 * words.length ? words.length : 0;
  });
  return Math.max(...lengths);
}

/** Returns the text of a string or of JSX, with one word in place of each inserted value. */
function stringOf(node: ts.Node): string {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return '';
  return node.head.text + node.templateSpans.map(({ literal }) => `value${literal.text}`).join('');
}

/** Returns the comments before a node. Consecutive line comments are one comment. */
function commentsBefore(node: ts.Node, source: string): string[] {
  const comments: string[] = [];
  let lineEnd = -1;
  for (const { pos, end, kind } of ts.getLeadingCommentRanges(source, node.pos) ?? []) {
    const isContinued = lineEnd >= 0 && /^\n[ \t]*$/.test(source.slice(lineEnd, pos));
    comments.push(`${isContinued ? `${comments.pop() ?? ''}\n` : ''}${source.slice(pos, end)}`);
    lineEnd = kind === ts.SyntaxKind.SingleLineCommentTrivia ? end : -1;
  }
  return comments;
}

const isExportedType = (node: ts.Node): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
  (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) &&
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

/** A tagged template is code, and a string whose method is called is data. */
const isCode = (node: ts.Node): boolean =>
  ts.isTaggedTemplateExpression(node) ||
  (ts.isPropertyAccessExpression(node) && ts.isStringLiteralLike(node.expression));

function partsOf(name: string, source: string) {
  const file = ts.createSourceFile(name, source, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  // The texts of apps are shown to people; other strings are statements, contracts and test data.
  const isShown = /^apps\/\w[\w-]*\/(src|web)\//.test(name);
  const comments = new Set<string>();
  const strings: string[] = [];
  const types: string[] = [];
  const visit = (node: ts.Node): void => {
    for (const comment of commentsBefore(node, source)) comments.add(textOf(comment));
    if (isExportedType(node)) types.push(node.name.text);
    if (isShown && stringOf(node).includes(' ')) strings.push(stringOf(node));
    if (!isCode(node)) ts.forEachChild(node, visit);
  };
  visit(file);
  return { name, comments: [...comments], strings, types };
}

type Parts = ReturnType<typeof partsOf>;

const questionsIn = ({ name, comments }: Parts): string[] =>
  comments.filter(startsWithQuestion).map((text) => `${name}: ${text.slice(0, 80)}`);

const longSentencesIn = ({ name, comments, strings }: Parts, limit: number): string[] =>
  [...comments, ...strings]
    .filter((text) => longestSentence(text) > limit)
    .map((text) => `${name}: ${text.trim().slice(0, 80)}`);

/** Returns each type name that several files export, with these files. */
function sharedNames(parts: readonly Parts[]): string[] {
  const files = new Map<string, Set<string>>();
  for (const { name, types } of parts)
    for (const type of types) files.set(type, (files.get(type) ?? new Set()).add(name));
  return [...files].filter(([, names]) => names.size > 1).map(([type, names]) => [type, ...names].join(' '));
}

const parts = globSync('{apps,clients,libs,tools}/**/*.{ts,tsx}', {
  cwd: workspaceRoot,
  exclude: (name) => /node_modules|\b(generated|dist)\b/.test(name),
}).map((name) => partsOf(name, readFileSync(path.join(workspaceRoot, name), 'utf8')));

describe('sentences and names', () => {
  it('are found where they are not allowed', () => {
    const question = 'What ends a lease.';
    const bad = partsOf(
      'apps/a/src/a.ts',
      `/** ${question} */
      export interface Asked { told: boolean }
      // When the lease ends,
      // which is checked later, it is free.
      const text = 'A ${'very '.repeat(maxWords)} long sentence';`,
    );
    expect(questionsIn(bad)).toEqual([`apps/a/src/a.ts: ${question}`]);
    expect(longSentencesIn(bad, maxWords)).toEqual([expect.stringContaining('A very')]);
    expect(sharedNames([bad, { ...bad, name: 'b.ts' }])).toEqual(['Asked apps/a/src/a.ts b.ts']);
  });

  it('start with their subject in comments', () => {
    expect(parts.flatMap(questionsIn)).toEqual([]);
  });

  it(`have at most ${maxWords} words`, () => {
    const long = parts.flatMap((part) => longSentencesIn(part, wordsBeforeWarning));
    if (long.length > 0)
      process.stderr.write(`${long.length} texts have a sentence of more than 25 words.\n`);
    expect(parts.flatMap((part) => longSentencesIn(part, maxWords))).toEqual([]);
  });

  it('have one meaning as the name of an exported type', () => {
    expect(sharedNames(parts)).toEqual([]);
  });
});
