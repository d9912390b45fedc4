/**
 * Measures the first load of a board of 2,000 stories and the response to keys. It asserts nothing, because the results
 * depend on the machine; run it on one that does nothing else:
 * `node --experimental-vm-modules node_modules/jest/bin/jest.js --rootDir apps/console --testMatch '**\/speed.measure.ts'`
 */
import { beforeAll } from '@jest/globals';
import { type Page } from 'playwright-core';
import { journey } from './browser.ts';
import { arrange, useHouse } from './house.ts';

const house = useHouse({ hasSignIn: true });
const storyCount = 2_000;
const coldLoads = 5;
const rounds = 25;
const measureTimeoutMs = 300_000;
let address = '';

const fill = `
  insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by)
  select c.org_id, uuidv7(), c.project_id, n, 'Story ' || n, '', c.status, c.id, 'z' || to_char(n, 'FM00000000'),
    array['backend'], jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana')
  from board_columns c, generate_series((select last_story_number + 1 from project_counters where project_id = $1), $2::int) n
  where c.project_id = $1 and c.status = 'backlog'`;

beforeAll(async () => {
  const people = await house.world.org();
  const { project } = await arrange(house, people, { backlog: ['First'], ready: [], in_progress: [] });
  await house.world.rows(fill, project.id, storyCount);
  address = `/p/WEB?org=${people.slug}`;
});

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;
const summarize = (values: readonly number[]): string =>
  [0.5, 0.75, 0.98].map((share) => `p${share * 100} ${Math.round(percentile(values, share))}`).join(' · ');

interface FirstLoad {
  readonly lcpMs: number;
  readonly requests: number;
  readonly transferredKb: number;
}

const firstLoadOf = (page: Page): Promise<FirstLoad> =>
  page.evaluate(`(async () => {
    const lcpMs = await new Promise((resolve) =>
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
        .observe({ type: 'largest-contentful-paint', buffered: true }));
    const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const transferred = entries.reduce((sum, { transferSize }) => sum + transferSize, 0);
    return { lcpMs, requests: entries.length, transferredKb: Math.round(transferred / 1024) };
  })()`);

/** Waits until the board is complete and the page has loaded what it preloads. */
async function waitForBoard(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'First' }).waitFor();
  await page.getByText(storyCount.toLocaleString('en'), { exact: true }).first().waitFor();
  await page.waitForLoadState('load');
}

journey(
  'measures first loads and key presses',
  async () => {
    const first = await house.signIn('ana@example.com', address);
    await waitForBoard(first.page);
    const storageState = await first.page.context().storageState();
    const loads: FirstLoad[] = [];
    // Windows that stay open are not reused, so that each begins with an empty cache.
    for (let nth = 0; nth < coldLoads; nth += 1) {
      const { page } = await house.visit(address, { storageState });
      await waitForBoard(page);
      loads.push(await firstLoadOf(page));
    }
    console.log('LCP of cold loads in ms:', summarize(loads.map(({ lcpMs }) => lcpMs)));
    console.log('first load:', loads[0]);

    const { page } = first;
    await page.evaluate(`globalThis.latencies = new Map(); new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId > 0) latencies.set(interactionId, Math.max(duration, latencies.get(interactionId) ?? 0));
    }).observe({ type: 'event', durationThreshold: 16, buffered: false })`);
    let presses = 0;
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
      presses += keys.length;
    };
    await press('j');
    for (let round = 0; round < rounds; round += 1)
      await press('j', 'j', 'k', 'x', 'x', 's', 'Escape', 'p', 'Escape', 'm', 'ArrowDown', 'Escape');
    await page.getByRole('searchbox', { name: 'Filter stories' }).focus();
    await press('1', '7', '7', 'Backspace', 'Backspace', 'Backspace');
    const slow = await page.evaluate<number[]>('[...latencies.values()]');
    // Faster interactions are not reported; they count with the threshold.
    const fast = Array.from({ length: Math.max(0, presses - slow.length) }, () => 16);
    console.log(`${presses} key presses in ms:`, summarize([...slow, ...fast]));
  },
  measureTimeoutMs,
);
