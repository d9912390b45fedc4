/**
 * Measures a board of 10,000 stories: its first load, the response to input, and the delay of another member's
 * move. It asserts nothing, because the results depend on the machine; run it on one that does nothing else:
 * `node --experimental-vm-modules node_modules/jest/bin/jest.js --rootDir apps/console --testMatch '**\/speed.measure.ts'`
 */
import { beforeAll } from '@jest/globals';
import { type Page } from 'playwright-core';
import { journey } from './browser.ts';
import { arrange, useHouse } from './house.ts';

const house = useHouse({ hasSignIn: true });
const storyCount = 10_000;
/** The number of stories per insert, small enough for the database's statement timeout. */
const batchSize = 2_000;
const coldLoads = 5;
const rounds = 5;
const moves = 60;
/** The processor and network of a phone. The network values are milliseconds and bytes per second. */
const slowerBy = 4;
const phoneNetwork = {
  offline: false,
  latency: 60,
  downloadThroughput: 9e6 / 8,
  uploadThroughput: 9e6 / 8,
};
const unlimitedNetwork = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
/** The shortest event duration that a browser reports, in milliseconds. */
const minReportedMs = 16;
const measureTimeoutMs = 300_000;

const fill = `
  insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by)
  select c.org_id, uuidv7(), c.project_id, n, 'A story of some length, number ' || n, '', c.status, c.id,
    'z' || to_char(n, 'FM00000000'), array['backend', 'bug'],
    jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana')
  from board_columns c, generate_series($2::int, $3::int) n
  where c.project_id = $1 and c.status = 'backlog'`;

let address: string;
let move: (status: 'ready' | 'in_progress') => Promise<unknown>;

beforeAll(async () => {
  const people = await house.world.org();
  const { project, columns, stories } = await arrange(house, people, {
    ...{ backlog: ['First'], ready: ['Moved by another'], in_progress: [] },
  });
  for (let from = stories.length + 1; from <= storyCount; from += batchSize)
    await house.world.rows(fill, project.id, from, Math.min(from + batchSize - 1, storyCount));
  const client = house.client(people.ben.me.token);
  move = (status) =>
    client.stories.reorder({
      storyId: 'WEB-2',
      columnId: columns.find((column) => column.status === status)?.id ?? '',
    });
  address = `/p/WEB?org=${people.slug}`;
});

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;
const summarize = (values: readonly number[]): string =>
  [0.5, 0.95, 0.98].map((share) => `p${share * 100} ${Math.round(percentile(values, share))}`).join(' · ');

interface FirstLoad {
  readonly lcpMs: number;
  readonly requests: number;
  readonly transferredKb: number;
}

const readFirstLoad = (page: Page): Promise<FirstLoad> =>
  page.evaluate(`(async () => {
    const lcpMs = await new Promise((resolve) =>
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
        .observe({ type: 'largest-contentful-paint', buffered: true }));
    const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const transferred = entries.reduce((sum, { transferSize }) => sum + transferSize, 0);
    return { lcpMs, requests: entries.length, transferredKb: Math.round(transferred / 1024) };
  })()`);

async function slowDown(page: Page, slowerBy: number, network = phoneNetwork): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowerBy });
  await session.send('Network.emulateNetworkConditions', network);
}

/** The number of stories in the backlog: all except the one that another member moves. */
const backlogCount = (storyCount - 1).toLocaleString('en');

/** Waits until the board is complete and the page has loaded what it preloads. */
async function waitForBoard(page: Page): Promise<void> {
  await page.locator('[data-card]').first().waitFor();
  await page.getByText(backlogCount, { exact: true }).first().waitFor();
  await page.waitForLoadState('load');
}

/** Records the duration of each interaction from now on. */
const recordInteractions = `
  globalThis.durations = new Map();
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0) durations.set(interactionId, Math.max(duration, durations.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: ${minReportedMs} });`;

/** Uses the board by mouse and keyboard. Returns the time until each input was painted, in milliseconds. */
async function interact(page: Page): Promise<number[]> {
  const before = await page.evaluate<number>('durations.clear(), performance.interactionCount');
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  for (let round = 0; round < rounds; round += 1) {
    await press('Home', 'j', 'j', 'j', 'k', 'x', 'x', 'l', 'h', 'End', 'ArrowUp', 'Home');
    await press('m', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'Escape', 's', 'Escape', 'p', 'Escape');
    await press('/');
    await page.keyboard.type('number 99', { delay: 30 });
    await page.getByRole('searchbox').fill('');
    await press('Escape');
    await page.locator('[data-card]').nth(2).click();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.goBack();
    await page.locator('[data-card]').first().waitFor();
  }
  const [slow, after] = await page.evaluate<[number[], number]>(
    'new Promise((done) => setTimeout(() => done([[...durations.values()], performance.interactionCount]), 500))',
  );
  // Faster interactions are not reported; they count with the threshold.
  return [...slow, ...Array.from({ length: Math.max(0, after - before - slow.length) }, () => minReportedMs)];
}

/** Moves a story as another member. Returns the time from each call until the card is at its new place. */
async function measureMoves(page: Page): Promise<number[]> {
  await page.getByText('Live', { exact: true }).waitFor();
  const delays: number[] = [];
  for (let nth = 0; nth < moves; nth += 1) {
    const [status, name] =
      nth % 2 === 0 ? (['in_progress', 'In progress'] as const) : (['ready', 'Ready'] as const);
    const shown = page.getByRole('region', { name, exact: true }).getByText('Moved by another').waitFor();
    const startedAt = performance.now();
    await move(status);
    await shown;
    delays.push(performance.now() - startedAt);
  }
  return delays;
}

journey(
  'measures first loads, input and moves of others',
  async () => {
    const first = await house.signIn('ana@example.com', address);
    await waitForBoard(first.page);
    const storageState = await first.page.context().storageState();
    const { page } = first;
    await page.evaluate(recordInteractions);
    console.log('input in ms:', summarize(await interact(page)));
    await slowDown(page, slowerBy, unlimitedNetwork);
    console.log(`input in ms, ${slowerBy} times slower:`, summarize(await interact(page)));
    await slowDown(page, 1, unlimitedNetwork);
    console.log('moves of another in ms:', summarize(await measureMoves(page)));

    for (const rate of [1, slowerBy]) {
      const loads: FirstLoad[] = [];
      // Windows that stay open are not reused, so that each begins with an empty cache. They react to changes
      // by others, so input is measured before.
      for (let nth = 0; nth < coldLoads; nth += 1) {
        const { page } = await house.visit('/about:blank', { storageState });
        if (rate > 1) await slowDown(page, rate);
        await page.goto(`${house.url()}/console${address}`);
        await waitForBoard(page);
        loads.push(await readFirstLoad(page));
      }
      console.log(
        `LCP of cold loads in ms, ${rate} times slower:`,
        summarize(loads.map(({ lcpMs }) => lcpMs)),
      );
      console.log('first load:', loads[0]);
    }
  },
  measureTimeoutMs,
);
