/** Checks the layout and accessibility of pages in a real browser. Scripts are off by default. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const program = findBrowser();
export const inBrowser = program === undefined ? it.skip : it;
const pictures = process.env['PICTURES'];

export interface Looks {
  readonly withPage: (work: (page: Page) => Promise<void>, options?: BrowserContextOptions) => Promise<void>;
  /** Checks a page at every width. With the variable PICTURES it also saves screenshots in that folder. */
  readonly look: (page: Page, name: string) => Promise<void>;
}

/** Browser options for pages that axe checks, because axe runs as a script inside the page. */
export const lookedAt = { javaScriptEnabled: true, bypassCSP: true };

export function useLooks(): Looks {
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
      const context = await browser.newContext({ javaScriptEnabled: false, ...options });
      try {
        await work(await context.newPage());
      } finally {
        await context.close();
      }
    },
    look: async (page, name) => {
      for (const width of [1440, 1024, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect([name, width, isWide]).toEqual([name, width, false]);
        if (pictures !== undefined)
          await page.screenshot({ path: path.join(pictures, `${name}-${width}.png`), fullPage: true });
      }
      await page.evaluate(axe);
      const { violations } = await page.evaluate<AxeResults>('axe.run()');
      expect([name, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
        name,
        [],
      ]);
    },
  };
}
