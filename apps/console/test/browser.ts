/** A real Chromium for the journeys: the machine's own. `npm test` installs Debian's where it is missing. */
import { it } from '@jest/globals';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type ConsoleMessage,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';
import { until } from '@muster/testing';
import { browserFlags, findBrowser } from '@muster/testing/browser';

const program = findBrowser();

/** A journey by a browser; without one it is skipped, and counted so. */
export const journey = program === undefined ? it.skip : it;
if (program === undefined)
  console.warn('There is no Chromium here: the journeys of the console are skipped.');

/** Undefined where there is none. */
export async function launch(flags: readonly string[] = []): Promise<Browser | undefined> {
  if (program === undefined) return undefined;
  return chromium.launch({ executablePath: program, args: [...browserFlags(), ...flags] });
}

/** The browser cuts off all that is on its way when an interface of the machine comes or goes, as when a container starts. */
const networkChanged = 'net::ERR_NETWORK_CHANGED';
/** A page that was cut off ends at one of the browser's own, and on the way there it takes the place of the next try. */
const isCut = new RegExp(`${networkChanged}|chrome-error:`);

/** To a page, with all of its files. */
export async function goTo(page: Page, address: string): Promise<void> {
  let cuts = 0;
  const hear = (request: Request): void => {
    if (request.failure()?.errorText === networkChanged) cuts += 1;
  };
  page.on('requestfailed', hear);
  for (let before = -1; before !== cuts;) {
    before = cuts;
    const answer = await page.goto(address).catch((error: unknown) => {
      if (!isCut.test(String(error))) throw error;
      cuts += 1;
    });
    if (before === cuts && answer?.ok() !== true)
      throw new Error(`${address} answered ${String(answer?.status())}`);
  }
  page.off('requestfailed', hear);
}

/** Nothing asks for this but the wait for an interception. */
const probe = '/intercepted';

/**
 * Answers in place of the server what an open page asks for from now on. The browser says that it does before the page does:
 * what a key asked for in between would go past it. A page that is loaded afterwards needs no more than `page.route`.
 */
export async function intercept(
  page: Page,
  ...[url, answer, options]: Parameters<Page['route']>
): Promise<void> {
  await page.route(url, answer, options);
  await page.route(`**${probe}`, (route) => route.fulfill({ status: 204 }));
  await until(
    async () => (await page.evaluate(`fetch('${probe}').then(({ status }) => status, () => 0)`)) === 204,
  );
  await page.unroute(`**${probe}`);
}

export interface Faults {
  readonly found: readonly string[];
  /** Hears no more of the page. */
  readonly leave: () => void;
}

/** What went wrong on a page without being seen: errors of scripts, and what the content policy refused. */
export function faultsOf(page: Page): Faults {
  const found: string[] = [];
  const hearError = (error: Error): void => void found.push(String(error));
  const hearLine = (message: ConsoleMessage): void => {
    const [text, { url }] = [message.text(), message.location()];
    // What calls are refused is the pages' own to say; files of the console are always there.
    const isRefusal = text.startsWith('Failed to load resource') && !url.includes('/console/assets/');
    if (message.type() === 'error' && !isRefusal && !text.includes(networkChanged))
      found.push(`${text} ${url}`);
  };
  page.on('pageerror', hearError);
  page.on('console', hearLine);
  return {
    found,
    leave: () => {
      page.off('pageerror', hearError);
      page.off('console', hearLine);
    },
  };
}

/**
 * Windows that share nothing, each used again once it was given back, as if it were new: to open one takes the browser longer
 * than most journeys.
 */
export function windowsOf(browser: Browser) {
  const free = new Map<string, Page[]>();
  return {
    take: async (options: BrowserContextOptions) => {
      const alike = JSON.stringify(options);
      const spare = free.get(alike) ?? [];
      free.set(alike, spare);
      const page = spare.pop() ?? (await (await browser.newContext(options)).newPage());
      return { page, giveBack: async () => void ((await isAsNew(page, options)) && spare.push(page)) };
    },
  };
}

/** Leaves nothing in the window of what was done in it. One that was closed, or is not as it was, is of no more use. */
async function isAsNew(page: Page, { viewport = null, colorScheme, reducedMotion }: BrowserContextOptions) {
  const context = page.context();
  // What is stored can be cleared by a page of the same origin alone.
  if (page.isClosed() || !page.url().startsWith('http')) {
    await context.close();
    return false;
  }
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.mouse.move(0, 0);
  await page.evaluate('localStorage.clear(), sessionStorage.clear()');
  await page.goto('about:blank');
  await Promise.all([context.clearCookies(), context.clearPermissions()]);
  await page.emulateMedia({ colorScheme: colorScheme ?? null, reducedMotion: reducedMotion ?? null });
  if (viewport !== null) await page.setViewportSize(viewport);
  return true;
}

/** A script that presses keys within one turn of the page. */
export const pressing = (...keys: readonly string[]): string => `for (const key of ${JSON.stringify(keys)})
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));`;

/** Presses two keys that belong together: they do where little time lies between them, and a busy machine may take more. */
export const pressBoth = (page: Page, ...keys: readonly [string, string]): Promise<unknown> =>
  page.evaluate(pressing(...keys));

/** Picks a thing up by the pointer, as a hand does, and answers the box of what it is to be dragged over. */
export async function pickUp(page: Page, thing: Locator, target: Locator) {
  const [from, over] = [await thing.boundingBox(), await target.boundingBox()];
  if (from === null || over === null) throw new Error('what is dragged, or where to, is not on the page');
  await page.mouse.move(from.x + 40, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 3 });
  return over;
}

/** Drags on at a point until that is shown: a hand is never quite still, and what it is over is asked when it moves. */
export async function dragUntil(
  page: Page,
  { x, y }: { readonly x: number; readonly y: number },
  shown: Locator,
): Promise<void> {
  let step = 0;
  await until(async () => {
    step += 1;
    await page.mouse.move(x + (step % 2), y);
    return (await shown.count()) > 0;
  });
}
