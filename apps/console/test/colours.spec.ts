/** Tests that all pages of the product take their colors from one stylesheet. */
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from '@jest/globals';

const repository = path.resolve(import.meta.dirname, '../../..');
const tokens = 'libs/http/src/look/tokens.css';
const color = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|oklab)a?\(/i;
const stylesheets = '{apps,libs}/*/{.vitepress,src,web}/**/*.{css,vue}';

it('no other stylesheet names a color', async () => {
  const files = (await Array.fromAsync(glob(stylesheets, { cwd: repository }))).filter(
    (file) => !file.includes('node_modules'),
  );
  expect(files.length).toBeGreaterThan(25);
  const texts = await Promise.all(files.map((file) => readFile(path.join(repository, file), 'utf8')));
  expect(files.filter((_, index) => color.test(texts[index] ?? ''))).toEqual([tokens]);
});
