/**
 * Measures the console in a real browser on a board of ten thousand stories. It measures the first paint on a
 * slow machine, the response to input, the delay of another member's move, and the memory.
 */
import { performance } from 'node:perf_hooks';
import { createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { foundOrg } from './data.ts';
import { type Effort } from './measure.ts';
import { quantile, whole } from './report.ts';
import { type Services } from './services.ts';

const stories = 10_000;
const piece = 500;
const coldLoads = 5;
const moves = 60;
/** The processor and network of a phone. The network values are milliseconds and bytes per second. */
const slower = 4;
const network = { offline: false, latency: 60, downloadThroughput: 9e6 / 8, uploadThroughput: 9e6 / 8 };
/** The shortest event duration that a browser reports, in milliseconds. */
const leastTold = 16;

export interface ConsoleSummary {
  /** The time of the board's largest contentful paint, for each cold load. */
  readonly paintMillis: readonly number[];
  readonly interactions: { readonly count: number; readonly p98: number };
  readonly slowedInteractions: { readonly count: number; readonly p98: number };
  /** The time from the call that moves a card until the card is at its new place. */
  readonly moveMillis: { readonly p50: number; readonly p95: number };
  readonly nodes: number;
  readonly heapBytes: number;
}

export async function measureConsole(services: Services, { say }: Effort): Promise<ConsoleSummary> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('there is no Chromium here (npm test installs it)');
  say('Starting PostgreSQL (fsync on), building and starting coordination-api and console');
  const postgres = await services.postgres();
  await migrate(postgres.url);
  const pages = await services.app('console', await services.bundle('console'), {});
  const api = await services.app('coordination-api', await services.bundle(), {
    ...{ DATABASE_URL: postgres.url, REDIS_URL: await services.redis(), CONSOLE_URL: pages.url },
  });
  say(`Making ${whole(stories)} stories`);
  const board = await makeBoard(services.owner(postgres.url), api.url);
  const browser = await chromium.launch({ executablePath, args: browserFlags() });
  services.onStop(() => browser.close());
  const open = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await newPage(browser, options);
    await signIn(page, api.url, board.token);
    return page;
  };

  say(`${coldLoads} cold loads, the processor ${slower} times slower`);
  const paintMillis: number[] = [];
  for (let load = 0; load < coldLoads; load += 1) {
    const page = await newPage(browser);
    await slowDown(page, true);
    await signIn(page, api.url, board.token);
    paintMillis.push(await page.evaluate<number>('lastPaint'));
    await page.context().close();
  }

  const page = await open();
  await page.getByText(stories.toLocaleString('en'), { exact: true }).first().waitFor();
  say('Walking, moving, filtering, opening');
  const interactions = await interact(page);
  await slowDown(page, false);
  const slowedInteractions = await interact(page);
  await page.context().close();

  say(`${moves} moves by another`);
  const watching = await open();
  const moveMillis = await measureMoves(watching, api.url, board);
  const session = await watching.context().newCDPSession(watching);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize: heapBytes } = await session.send('Runtime.getHeapUsage');
  const nodes = (await watching.evaluate('document.querySelectorAll("*").length')) as number;
  return {
    ...{ paintMillis, interactions, slowedInteractions, nodes, heapBytes },
    moveMillis: { p50: quantile(moveMillis, 0.5), p95: quantile(moveMillis, 0.95) },
  };
}

interface BenchBoard {
  readonly token: string;
  readonly storyId: string;
  readonly columnIds: readonly [string, string];
}

async function makeBoard(owner: Pool, baseUrl: string): Promise<BenchBoard> {
  const { token } = await foundOrg(owner, 'console');
  const client = createClient(httpTransport({ baseUrl, token }));
  const { project, columns } = await client.projects.create({ key: 'WEB', name: 'Web shop' });
  const columnOf = (status: string): string => columns.find((one) => one.status === status)?.id ?? '';
  const columnIds = [columnOf('ready'), columnOf('in_review')] as const;
  const { story } = await client.stories.create({
    ...{ projectId: project.id, title: 'Moved by another', columnId: columnIds[0] },
  });
  // Inserts in batches that stay below the statement timeout.
  for (let from = 1; from <= stories; from += piece)
    await owner.query(
      `insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by)
       select c.org_id, uuidv7(), c.project_id, n + 1, 'A story of some length, number ' || n, '', c.status, c.id,
         'z' || to_char(n, 'FM00000000'), array['backend', 'bug'],
         jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana')
       from board_columns c, generate_series($2::int, $3::int) n
       where c.project_id = $1 and c.status = 'backlog'`,
      [project.id, from, from + piece - 1],
    );
  return { token, storyId: story.id, columnIds };
}

/** Records paints and event durations that the browser reports. */
const listening = `
  globalThis.lastPaint = 0;
  globalThis.durations = new Map();
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) lastPaint = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0) durations.set(interactionId, Math.max(duration, durations.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: ${leastTold} });`;

async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  await page.addInitScript(listening);
  return page;
}

async function slowDown(page: Page, withNetwork: boolean): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
  if (withNetwork) await session.send('Network.emulateNetworkConditions', network);
}

/** Enters the token by a script, because the browser reports no larger paint after the first user input. */
async function signIn(page: Page, baseUrl: string, token: string): Promise<void> {
  await page.goto(`${baseUrl}/console/p/WEB`);
  await page.getByLabel('Token').waitFor();
  await page.evaluate(`{
    const field = document.querySelector('input[type=password]');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, ${JSON.stringify(token)});
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.form.requestSubmit();
  }`);
  await page.locator('[data-card]').first().waitFor();
}

/**
 * Uses the board by mouse and keyboard for a while. Returns the 98th percentile of the time until each input
 * was painted.
 */
async function interact(page: Page): Promise<ConsoleSummary['interactions']> {
  const before = (await page.evaluate('durations.clear(), performance.interactionCount')) as number;
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  for (let round = 0; round < 4; round += 1) {
    await press('Home', 'j', 'j', 'j', 'j', 'l', 'h', 'End', 'ArrowUp', 'Home');
    await press('m', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'Escape');
    await press('/');
    await page.keyboard.type('number 99', { delay: 30 });
    await page.getByRole('searchbox').fill('');
    await press('Escape');
    await page.locator('[data-card]').nth(2).click();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.goBack();
    await page.locator('[data-card]').first().waitFor();
    await press('Control+k');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.type('ship', { delay: 30 });
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  const [told, after] = (await page.evaluate(
    'new Promise((done) => setTimeout(() => done([[...durations.values()], performance.interactionCount]), 500))',
  )) as [number[], number];
  const count = after - before;
  const quick = Array.from({ length: Math.max(0, count - told.length) }, () => leastTold);
  return { count, p98: quantile([...told, ...quick], 0.98) };
}

async function measureMoves(page: Page, baseUrl: string, board: BenchBoard): Promise<number[]> {
  const client = createClient(httpTransport({ baseUrl, token: board.token }));
  const names = ['Ready', 'In review'] as const;
  await page.getByText('Live', { exact: true }).waitFor();
  const taken: number[] = [];
  for (let move = 1; move <= moves; move += 1) {
    const to = move % 2 === 0 ? 0 : 1;
    const column = page.getByRole('region', { name: names[to], exact: true });
    const there = column.getByText('Moved by another').waitFor();
    const begun = performance.now();
    await client.stories.reorder({ storyId: board.storyId, columnId: board.columnIds[to] });
    await there;
    taken.push(performance.now() - begun);
  }
  return taken;
}

export function renderConsole(summary: ConsoleSummary): string {
  const { paintMillis, interactions, slowedInteractions, moveMillis, nodes, heapBytes } = summary;
  return [
    `  the largest paint of a cold board, processor ${slower} times slower: ${whole(quantile(paintMillis, 0.5))} ms (p50), ${whole(Math.max(...paintMillis))} ms at most`,
    `  ${whole(interactions.count)} interactions: p98 ${whole(interactions.p98)} ms; ${slower} times slower ${whole(slowedInteractions.p98)} ms`,
    `  another's move, from its call to the screen: ${whole(moveMillis.p50)} ms (p50), ${whole(moveMillis.p95)} ms (p95)`,
    `  with ${whole(stories)} stories: ${whole(nodes)} elements, ${whole(heapBytes / 1024 / 1024)} MiB of heap`,
  ].join('\n');
}
