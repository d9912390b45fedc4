/**
 * Tests that text is never lost without a question: every form with a field for longer text protects it in
 * the same way.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';

const web = path.resolve(import.meta.dirname, '../web');
/**
 * Files whose long fields need no protection of their own: those that only search for something, such as a path, and
 * the editor, whose users protect its text.
 */
const unguarded = new Set(['pages/locks-page.tsx', 'editor/text-editor.tsx', 'editor/full-editor.tsx']);
const maxShortText = 120;

const hasLongField = (source: string): boolean =>
  Array.from(source.matchAll(/<(textarea|TextEditor|input)\b.*?\/>/gs)).some(
    ([field, kind]) =>
      kind !== 'input' ||
      Number((/maxLength=\{([\d_]+)\}/.exec(field)?.[1] ?? '0').replaceAll('_', '')) > maxShortText,
  );
const isGuarded = (source: string): boolean =>
  /\b(useLeaveConfirmation|useNewTextDraft|markUnsaved)\(|<Form\b/.test(source);

it('guards each form with a field for longer text', () => {
  const files = readdirSync(web, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx') && !unguarded.has(file))
    .map((file) => ({ file, source: readFileSync(path.join(web, file), 'utf8') }))
    .filter(({ source }) => hasLongField(source));
  expect(files.map(({ file }) => file)).toEqual(
    expect.arrayContaining([
      'board/quick-add.tsx',
      'story/reviews.tsx',
      'story/blocking.tsx',
      'story/threads.tsx',
    ]),
  );
  expect(files.filter(({ source }) => !isGuarded(source)).map(({ file }) => file)).toEqual([]);
});
