// Tests the built site: its search finds operations and error reasons, and no link is broken.
import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anchorOf, referencePages } from '@muster/reference';
import { reasons } from '@muster/contract';
import { operations } from '@muster/registry';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type AxeResults } from 'axe-core';
import MiniSearch from 'minisearch';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import { createDocsService } from '../src/app.ts';
import { builtSiteFolder as site } from '../src/made-site.ts';
import { searchOptions } from '../src/vitepress/search.ts';

const repository = path.resolve(import.meta.dirname, '../../..');
/** The HTML of the built pages by URL path. */
const pages = new Map<string, string>();

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [path.join(repository, 'apps/docs/src/build.ts'), site]);
  for await (const file of glob('**/*.html', { cwd: site }))
    pages.set(`/${file.replace(/(index)?\.html$/, '')}`, await readFile(path.join(site, file), 'utf8'));
}, 240_000);

describe('the search', () => {
  let search: MiniSearch;
  const first = (words: string, count = 1): unknown[] =>
    search
      .search(words)
      .slice(0, count)
      .map(({ id }) => id as unknown);

  beforeAll(async () => {
    const [file = ''] = await Array.fromAsync(
      glob('assets/chunks/@localSearchIndexroot.*.js', { cwd: site }),
    );
    const { default: index } = (await import(pathToFileURL(path.join(site, file)).href)) as {
      default: string;
    };
    search = MiniSearch.loadJSON(index, {
      fields: ['title', 'titles', 'text'],
      storeFields: ['title', 'titles'],
      searchOptions,
    });
  });

  it.each([...operations.values()])('finds $name first', ({ name, namespace }) => {
    // An operation whose name has the same words in another order may rank first.
    expect(first(name, 2)).toContain(`/reference/${namespace}#${anchorOf(name)}`);
  });

  it.each(Object.keys(reasons))('finds the reason %s', (reason) => {
    expect(first(reason, 3)).toContain(`/reference/errors#${anchorOf(reason)}`);
  });

  it.each(['Story', 'Execution', 'Lease', 'Webhook', 'Member', 'Lock'])('finds the record %s', (record) => {
    expect(first(record, 3)).toContain(`/reference/records#${anchorOf(record)}`);
  });

  it.each([
    ['pagination', '/guides/errors-and-retries#pagination'],
    ['monitoring', '/guides/monitoring#monitoring-and-alerts'],
    ['glossary', '/glossary#glossary'],
    ['architecture', '/architecture#architecture'],
    ['kubernetes', '/guides/running-it#on-kubernetes'],
    ['deploy', '/guides/running-it#deploy-and-operate'],
    ['create a story', '/reference/stories#stories.create'],
    ['claude code', '/guides/mcp-clients#claude-code'],
  ])('finds what a reader means by "%s"', (words, place) => {
    // The search dialog shows more results than these.
    expect(first(words, 10)).toContain(place);
  });
});

it('has a page for each guide, and each is in the sidebar', async () => {
  const guides = await Array.fromAsync(glob('guides/*.md', { cwd: path.join(repository, 'docs') }));
  expect(guides.length).toBeGreaterThan(10);
  for (const guide of guides.map((file) => `/${file.slice(0, -'.md'.length)}`)) {
    expect([guide, pages.has(guide)]).toEqual([guide, true]);
    expect(pages.get('/guides/concepts')).toContain(`href="${guide}"`);
  }
  for (const page of referencePages().slice(1)) expect(pages.has(`/${page.path}`)).toBe(true);
});

it('has every page in full: none that ended in a fault as it was drawn', () => {
  const empty = [...pages].filter(([address, html]) => address !== '/404' && !html.includes('<h1'));
  expect(empty.map(([address]) => address)).toEqual([]);
  expect(pages.get('/guides/forge-webhooks')).toContain('checks: ${{ job.status }}');
});

it('has no link that leads nowhere', () => {
  const dead: string[] = [];
  let links = 0;
  for (const [address, html] of pages) {
    for (const [, href = ''] of html.matchAll(/<a[^>]* href="([^"]+)"/g)) {
      if (/^(https?|mailto):/.test(href)) continue;
      links += 1;
      const { pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site${address}`);
      const target = pages.get(pathname);
      const place = decodeURIComponent(hash.slice(1));
      if (target === undefined || (place !== '' && !target.includes(`id="${place}"`)))
        dead.push(`${address}: ${href}`);
    }
  }
  expect(links).toBeGreaterThan(5_000);
  expect(dead).toEqual([]);
});

it('names no file of the repository where a paragraph begins', () => {
  expect(pages.get('/states')).toContain('<p>The moves that the workflow has.');
});

it('asks nothing of another origin, and has a mark', () => {
  const home = pages.get('/') ?? '';
  expect(home).toContain('rel="icon"');
  for (const [address, html] of pages)
    expect([address, html.match(/<(?:script|link|img)[^>]* (?:src|href)="https?:/g)]).toEqual([
      address,
      null,
    ]);
});

const program = findBrowser();
const inBrowser = program === undefined ? describe.skip : describe;

inBrowser('in a browser', () => {
  const service = createDocsService(site, pino({ level: 'silent' }));
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  let address = '';
  let browser: Browser | undefined;
  beforeAll(async () => {
    address = await service.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await chromium.launch({ executablePath: program ?? '', args: browserFlags() });
  });
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

  const places = ['', 'guides/first-ten-minutes', 'reference/search', 'reference/errors', 'states', 'none'];
  it.each([
    ['light', 1920],
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'can be read by all who read by other means, %s at %d pixels',
    async (colorScheme, width) => {
      const page = await browser?.newPage({ colorScheme, viewport: { width, height: 900 } });
      if (page === undefined) throw new Error('there is no page');
      for (const place of places) {
        await page.goto(`${address}/${place}`);
        await page
          .locator(place === 'none' ? '.NotFound' : '.VPContent')
          .first()
          .waitFor();
        await page.addScriptTag({ path: axe });
        const { violations } = (await page.evaluate(
          `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
        )) as AxeResults;
        const found = violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .map(({ html }) => html.slice(0, 120))
              .slice(0, 3)
              .join(' · ')}`,
        );
        expect([place, found]).toEqual([place, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
      await page.close();
    },
    180_000,
  );

  it('shows what each parameter means on the narrowest page, without scrolling to the side', async () => {
    const page = await browser?.newPage({ viewport: { width: 320, height: 900 } });
    if (page === undefined) throw new Error('there is no page');
    await page.goto(`${address}/reference/stories`);
    await page.locator('.VPContent td').first().waitFor();
    const [cells = 0, outside = -1] = (await page.evaluate(`(() => {
      const cells = [...document.querySelectorAll('.vp-doc td:not(:empty)')];
      return [cells.length, cells.filter((cell) => cell.getBoundingClientRect().right > innerWidth).length];
    })()`)) as number[];
    expect(cells).toBeGreaterThan(100);
    expect(outside).toBe(0);
    await page.close();
  });

  it('leads to each alert from the side of its guide', async () => {
    const page = await browser?.newPage({ viewport: { width: 1440, height: 900 } });
    if (page === undefined) throw new Error('there is no page');
    await page.goto(`${address}/guides/monitoring`);
    await page.locator('.VPDocOutlineItem a[href="#musterslow"]').waitFor();
    await page.close();
  });
});
