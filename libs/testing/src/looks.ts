/** Checks the layout and accessibility of pages in a real browser. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { browserFlags, findBrowser } from './browser-program.ts';

const program = findBrowser();
export const inBrowser = program === undefined ? it.skip : it;
const pictures = process.env['PICTURES'];

export interface Looks {
  readonly withPage: <Result>(
    work: (page: Page) => Promise<Result>,
    options?: BrowserContextOptions,
  ) => Promise<Result>;
  /** Checks a page at every width. With the variable PICTURES it also saves screenshots in that folder. */
  readonly look: (page: Page, name: string) => Promise<void>;
}

/** Launches the browser for the tests of this file. `defaults` are options of all its windows. */
export function useLooks(defaults: BrowserContextOptions = {}): Looks {
  let browser: Browser | undefined;
  let axe = '';
  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    if (program !== undefined)
      browser = await chromium.launch({ executablePath: program, args: browserFlags() });
  });
  afterAll(() => browser?.close());
  return {
    withPage: async (work, options = {}) => {
      if (browser === undefined) throw new Error('there is no browser');
      const context = await browser.newContext({ ...defaults, ...options });
      try {
        return await work(await context.newPage());
      } finally {
        await context.close();
      }
    },
    look: async (page, name) => {
      for (const width of [1920, 1440, 1024, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect([name, width, isWide]).toEqual([name, width, false]);
        if (pictures !== undefined)
          await page.screenshot({ path: path.join(pictures, `${name}-${width}.png`), fullPage: true });
      }
      // Playwright's isolated world runs axe although the policy of the page blocks other scripts.
      await page.evaluate(axe);
      const { violations } = await page.evaluate<AxeResults>('axe.run()');
      expect([name, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
        name,
        [],
      ]);
    },
  };
}
