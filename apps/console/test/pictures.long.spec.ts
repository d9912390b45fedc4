/**
 * Compares every page with its stored screenshot. After an intended change, `UPDATE_PICTURES=1 npx nx long
 * console` updates them. Otherwise dist/pictures contains the differing pages, with the differences in red.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import pixelmatch from 'pixelmatch';
import { type BrowserContextOptions, type Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { journey } from './browser.ts';
import { furnish, pages } from './furnished.ts';
import { useHouse, type Window } from './house.ts';

const house = useHouse({ isForPictures: true });
const kept = path.join(import.meta.dirname, 'pictures');
const found = path.resolve(import.meta.dirname, '../../../dist/pictures');
const isUpdate = process.env['UPDATE_PICTURES'] === '1';
/**
 * The maximum share of differing pixels: less than a moved button, more than differences in anti-aliasing.
 */
const mostDiffering = 0.001;

const require = createRequire(import.meta.url);
const inter = path.join(
  path.dirname(require.resolve('@fontsource-variable/inter/LICENSE')),
  'files/inter-latin-wght-normal.woff2',
);
/**
 * Uses one font on every machine, and hides content that changes with every run: ids, secrets, charts by day, timelines.
 */
const alike = `
  @font-face { font-family: Inter; src: url('/console/assets/inter-AAAAAAAA.woff2'); font-weight: 100 900; }
  :root { --font: Inter; --mono: Inter; }
  .table-target, .settings .row code, .settings .copy-line code { display: none; }
  .chart, .table-slim, .timeline-head, .timeline-track { visibility: hidden; }
  .field.mono { color: transparent; }
`;

let people: People;
beforeAll(async () => {
  people = await house.world.org();
  await furnish(house, people);
  // The API records uses of tokens every ten seconds. Until then the first run still waits for an agent's call.
  await waitUntil(async () => {
    const used = 'select from tokens where org_id = $1 and agent_id is not null and last_used_at is not null';
    return (await house.world.rows(used, people.orgId)).length > 0;
  });
});

const views = {
  wide: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  narrow: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
} as const satisfies Record<string, BrowserContextOptions>;

/** Opens a window that renders identically on every machine; `more` is additional CSS. */
async function openAlike(view: keyof typeof views, more = ''): Promise<Window> {
  const window = await house.visit('/', { ...views[view], reducedMotion: 'reduce', locale: 'en-US' });
  const { page } = window;
  await page.route('**/assets/inter-*.woff2', (route) => route.fulfill({ path: inter }));
  await page.route('**/assets/index-*.css', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: `${await answer.text()}${alike}${more}` });
  });
  // Sets the clock of the browser and that of the session 100 minutes ahead, so that new events appear as two
  // hours old in every run.
  const time = new Date(Date.now() + 100 * 60_000);
  await page.clock.setFixedTime(time);
  await page.route('**/api/session/identity', async (route) => {
    const answer = await route.fetch();
    const identity = { ...((await answer.json()) as object), serverTime: time.toISOString() };
    await route.fulfill({ response: answer, json: identity });
  });
  await page.reload();
  await page.getByLabel('Token').fill(people.ana.me.token);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return window;
}

async function pictureOf(page: Page, address: string, signs: readonly string[]): Promise<PNG> {
  await house.go(page, address);
  for (const sign of signs) await page.locator('main').getByText(sign).first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  // The controls of views load after the board.
  await page.locator('.view-controls:empty').waitFor({ state: 'detached' });
  await page.locator(':is(.wire, .phone-bar)[data-state="live"]').waitFor({ state: 'attached' });
  await page.evaluate('Promise.all([...document.images].map((image) => image.decode()))');
  await page.evaluate('document.fonts.ready.then(() => document.activeElement?.blur())');
  await page.mouse.move(0, 0);
  return PNG.sync.read(await page.screenshot());
}

/** Returns the share of differing pixels; 1 if the sizes differ. */
function differing(one: PNG, other: PNG): { share: number; picture: PNG } {
  const { width, height } = one;
  const picture = new PNG({ width, height });
  if (width !== other.width || height !== other.height) return { share: 1, picture };
  const count = pixelmatch(one.data, other.data, picture.data, width, height, { threshold: 0.15 });
  return { share: count / (width * height), picture };
}

const nameOf = (view: string, address: string): string =>
  `${view}${address.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '-now')}.png`;

/** Returns true if the page matches its screenshot. Otherwise stores the new image in dist/pictures. */
async function looksAs(name: string, picture: PNG): Promise<boolean> {
  const file = path.join(kept, name);
  if (isUpdate) {
    await mkdir(kept, { recursive: true });
    await writeFile(file, PNG.sync.write(picture, { colorType: 2 }));
    return true;
  }
  if (existsSync(file)) {
    const { share, picture: red } = differing(PNG.sync.read(await readFile(file)), picture);
    if (share <= mostDiffering) return true;
    await mkdir(found, { recursive: true });
    await writeFile(path.join(found, name.replace('.png', '.differences.png')), PNG.sync.write(red));
  }
  await mkdir(found, { recursive: true });
  await writeFile(path.join(found, name), PNG.sync.write(picture));
  return false;
}

describe.each(['wide', 'narrow'] as const)('%s', (view) => {
  journey('every page looks as its picture does', async () => {
    const window = await openAlike(view);
    const { page, faults } = window;
    const others: string[] = [];
    for (const [address, ...signs] of pages) {
      const name = nameOf(view, address);
      if (!(await looksAs(name, await pictureOf(page, address, signs)))) others.push(name);
    }
    await window.close();
    expect({ others, faults }).toEqual({ others: [], faults: [] });
  });
});

journey('a control that is 6 px further down and one in another colour are seen', async () => {
  const [address, signs] = ['/settings/teams', ['Mobile']];
  const plain = await openAlike('wide');
  const picture = await pictureOf(plain.page, address, signs);
  const again = differing(picture, await pictureOf(plain.page, address, signs)).share;
  await plain.close();
  const shares = [again];
  for (const more of ['.set-head .button { margin-block-start: 6px }', ':root { --accent: rebeccapurple }']) {
    const other = await openAlike('wide', more);
    shares.push(differing(picture, await pictureOf(other.page, address, signs)).share);
    await other.close();
  }
  expect(shares.map((share) => share > mostDiffering)).toEqual([false, true, true]);
});
