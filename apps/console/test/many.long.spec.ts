/**
 * Tests a column with ten thousand stories. budgets.json limits how many DOM nodes the page has, and every
 * story can be reached by keys.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { type Page } from 'playwright-core';
import budgets from '../budgets.json' with { type: 'json' };
import { makeSite } from '../src/build.ts';
import { journey } from './browser.ts';
import { arrange, useHouse, type Window } from './house.ts';

const house = useHouse();
const count = 10_000;
let window: Window;
let page: Page;

/**
 * Inserts the stories by SQL after the few made by the API, since a hundred thousand calls would take too
 * long.
 */
const fill = `
  insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by)
  select c.org_id, uuidv7(), c.project_id, n, 'A story' || repeat(' of some length', n % 7) || ', number ' || n, '', c.status, c.id,
    'z' || to_char(n, 'FM00000000'), array['backend', 'bug'],
    jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana')
  from board_columns c, generate_series((select last_story_number + 1 from project_counters where project_id = $1), $2::int) n
  where c.project_id = $1 and c.status = 'backlog'`;

beforeAll(async () => {
  const people = await house.world.org();
  const { project } = await arrange(house, people, { backlog: ['First'], ready: [], in_progress: [] });
  await house.world.rows(fill, project.id, count);
  window = await house.open(people.ana.me.token, '/p/WEB');
  ({ page } = window);
  // The page counts all stories of the project, not only those of the first page of results.
  await page.getByText(count.toLocaleString('en'), { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'First', exact: false }).first().waitFor();
});
afterAll(async () => {
  await window.close();
});

const nodes = (of = page): Promise<number> => of.evaluate<number>('document.querySelectorAll("*").length');

/** Measures how far the focused card extends below the visible part of its column. */
const hiddenBelow = `{
  const card = document.activeElement;
  Math.max(0, Math.round(card.getBoundingClientRect().bottom - card.closest('.column-scroll').getBoundingClientRect().bottom));
}`;

journey('holds few elements and little memory, however many there are', async () => {
  expect(await nodes()).toBeLessThanOrEqual(budgets.nodesWithTenThousandStories);
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  expect(usedSize).toBeLessThanOrEqual(budgets.heapBytesWithTenThousandStories);
});

journey('leads to the last of them by one key, and back, with the focus on the card', async () => {
  await page.keyboard.press('j');
  await page.locator('[data-card]:focus', { hasText: 'First' }).waitFor();
  await page.keyboard.press('End');
  await page.locator('[data-card]:focus', { hasText: `number ${count}` }).waitFor();
  expect(await nodes()).toBeLessThanOrEqual(budgets.nodesWithTenThousandStories);
  // The focused card is completely in view, even if other cards have different heights than estimated.
  await waitUntil(async () => (await page.evaluate(hiddenBelow)) === 0);
  await page.keyboard.press('ArrowUp');
  await page.locator('[data-card]:focus', { hasText: `number ${count - 1}` }).waitFor();
  await page.keyboard.press('Home');
  await page.locator('[data-card]:focus', { hasText: 'First' }).waitFor();
  expect(window.faults).toEqual([]);
});

journey('begins at the top with what a filter finds, wherever the column was', async () => {
  await page.keyboard.press('j');
  await page.keyboard.press('End');
  await page.locator('[data-card]:focus', { hasText: `number ${count}` }).waitFor();
  await page.getByRole('searchbox', { name: 'Filter stories' }).fill('some 77 number');
  await page.getByText(/^\d+ of 10,000$/).waitFor();
  // Story 177 is the first match in the column.
  await page.getByRole('link', { name: 'number 177', exact: false }).first().waitFor();
  expect(await page.evaluate(`document.querySelector('.column-scroll').scrollTop`)).toBe(0);
  await page.getByRole('searchbox', { name: 'Filter stories' }).fill('');
});

journey('would hold too many with a twentieth of them, were all of them drawn', async () => {
  const some = count / 20;
  const people = await house.world.org();
  const { project } = await arrange(house, people, { backlog: ['First'], ready: [], in_progress: [] });
  await house.world.rows(fill, project.id, some);
  const folder = path.join(path.dirname(house.folder()), 'all-drawn');
  await makeSite(folder, { '@tanstack/react-virtual': path.join(import.meta.dirname, 'all-drawn.ts') });
  const all = await house.visit('/nowhere');
  const { page: other } = all;
  await other.route('**/console/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = pathname.startsWith('/console/assets/') ? pathname.slice('/console/'.length) : 'index.html';
    const contentType = { '.js': 'text/javascript', '.css': 'text/css' }[path.extname(file)] ?? 'text/html';
    await route.fulfill({ contentType, body: await readFile(path.join(folder, file)) });
  });
  await other.goto(`${house.url()}/console/p/WEB`);
  await other.getByLabel('Token').fill(people.ana.me.token);
  await other.keyboard.press('Enter');
  await other.getByRole('link', { name: `number ${some}` }).waitFor();
  expect(await nodes(other)).toBeGreaterThan(budgets.nodesWithTenThousandStories);
  expect(all.faults).toEqual([]);
  await all.close();
});
