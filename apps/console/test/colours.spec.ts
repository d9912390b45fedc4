/** Tests that pages rendered by services look like the console. */
import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { createPageFrame, html } from '@muster/http';

const tokens = new URL('../web/styles/tokens.css', import.meta.url);
/** Maps custom properties such as `--ink` to their values, each in one line. */
const setIn = (css: string): Map<string, string> =>
  new Map(
    [...css.matchAll(/(--[\w-]+):\s*([^;}]+)/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\s+/g, ' ').trim(),
    ]),
  );

it('are the colours and the font of pages that a service makes by itself, by the same names', async () => {
  const { body } = createPageFrame({ name: 'Muster', style: '' })({ title: 'A page', body: html`` });
  const own = setIn(/<style>(.*?)<\/style>/s.exec(body)?.[1] ?? '');
  expect(own.size).toBeGreaterThan(10);
  const console = setIn(await readFile(tokens, 'utf8'));
  for (const [name, value] of own) expect([name, value]).toEqual([name, console.get(name)]);
});
