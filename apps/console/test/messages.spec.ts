/**
 * Tests that all visible texts are in web/messages, so that a translation only needs files of the same shape.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const web = path.resolve(import.meta.dirname, '../web');
const files = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /(?<!\.spec)\.tsx?$/.test(file) && !file.startsWith('messages/'),
);
/** Attributes and properties whose value is shown or spoken. */
const spoken = new Set([
  'aria-label',
  'title',
  'placeholder',
  'alt',
  'label',
  'body',
  'act',
  'why',
  'hint',
  'intro',
  'empty',
]);
/** Returns true for sample values that need no translation, such as addresses and numbers. */
const isNoText = (text: string): boolean =>
  !/\p{L}/u.test(text) || /^https?:\/\/$|^[a-z]*\.(example|com)$/.test(text);

function textsIn(name: string, content: string): string[] {
  const source = ts.createSourceFile(name, content, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const keep = (text: string): void => {
    if (!isNoText(text.trim())) found.push(`${name}: ${text.trim()}`);
  };
  const literals = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) keep(node.text);
    else if (ts.isTemplateExpression(node))
      for (const part of [node.head, ...node.templateSpans.map(({ literal }) => literal)]) keep(part.text);
    else if (ts.isConditionalExpression(node))
      for (const part of [node.whenTrue, node.whenFalse]) literals(part);
    else if (ts.isJsxExpression(node) && node.expression !== undefined) literals(node.expression);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) keep(node.text);
    else if (ts.isJsxExpression(node) && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent)))
      literals(node);
    else if (ts.isJsxAttribute(node) && spoken.has(node.name.getText()) && node.initializer !== undefined)
      literals(node.initializer);
    else if (ts.isPropertyAssignment(node) && spoken.has(node.name.getText())) literals(node.initializer);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('has no text outside of the catalogue', () => {
  expect(files.length).toBeGreaterThan(60);
  expect(files.flatMap((file) => textsIn(file, readFileSync(path.join(web, file), 'utf8')))).toEqual([]);
});

it('finds what people would read, wherever it is written', () => {
  const page = `const a = <p title="Held" data-x="no">Two words{isOn ? 'on' : 1}</p>; notify({ tone: 'bad', title: \`Not \${b}\` });`;
  expect(textsIn('a.tsx', page)).toEqual(['a.tsx: Held', 'a.tsx: Two words', 'a.tsx: on', 'a.tsx: Not']);
});
