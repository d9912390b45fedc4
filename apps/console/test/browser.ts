/**
 * Runs journeys in a real Chromium, the one installed on the machine. `npm test` installs Debian's if it is
 * missing.
 */
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
import { waitUntil } from '@muster/testing';
import { browserFlags, findBrowser } from '@muster/testing/browser';

const program = findBrowser();

/** Declares a browser test. Without a browser it is counted as skipped. */
export const journey = program === undefined ? it.skip : it;
if (program === undefined)
  console.warn('There is no Chromium here: the journeys of the console are skipped.');

/** Launches the browser; undefined if there is none. */
export async function launch(flags: readonly string[] = []): Promise<Browser | undefined> {
  if (program === undefined) return undefined;
  return chromium.launch({ executablePath: program, args: [...browserFlags(), ...flags] });
}

/**
 * The browser aborts all requests when a network interface of the machine appears or disappears, for example
 * when a container starts.
 */
const networkChanged = 'net::ERR_NETWORK_CHANGED';
/**
 * Matches the errors of an interrupted navigation. Such a navigation ends at an error page of the browser,
 * which may interrupt the next attempt too.
 */
const isCut = new RegExp(`${networkChanged}|chrome-error:`);

/** Opens a page and waits for all of its files. */
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

/** The address that `intercept` requests to find out if the interception is active. Nothing else requests it. */
const probe = '/intercepted';

/**
 * Intercepts requests of an open page from now on. It waits until the interception is active, since the
 * browser confirms it before the page applies it. A page that is loaded afterwards only needs `page.route`.
 */
export async function intercept(
  page: Page,
  ...[url, answer, options]: Parameters<Page['route']>
): Promise<void> {
  await page.route(url, answer, options);
  await page.route(`**${probe}`, (route) => route.fulfill({ status: 204 }));
  await waitUntil(
    async () => (await page.evaluate(`fetch('${probe}').then(({ status }) => status, () => 0)`)) === 204,
  );
  await page.unroute(`**${probe}`);
}

export interface Faults {
  readonly found: readonly string[];
  /** Stops observing the page. */
  readonly leave: () => void;
}

/** Collects hidden problems of a page: script errors, and violations of the content security policy. */
export function faultsOf(page: Page): Faults {
  const found: string[] = [];
  const hearError = (error: Error): void => void found.push(String(error));
  const hearLine = (message: ConsoleMessage): void => {
    const [text, { url }] = [message.text(), message.location()];
    // Failed API requests are no faults, because the pages report them themselves. A missing file of the
    // console is a fault.
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
 * Pools isolated windows. A returned window is cleaned and reused, since opening one takes longer than most
 * journeys.
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

/** Cleans a window and returns true if it can be reused. A closed or modified window cannot. */
async function isAsNew(page: Page, { viewport = null, colorScheme, reducedMotion }: BrowserContextOptions) {
  const context = page.context();
  // Storage can only be cleared by a page of the same origin.
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

/** The part of a field or an editor that `textIn` reads. */
interface TextElement {
  readonly value?: string;
  readonly querySelectorAll: (selector: string) => Iterable<{
    readonly textContent: string;
    readonly querySelector: (selector: string) => unknown;
  }>;
}

/** Returns the text of a field, which may be an editor. */
export const textIn = (field: Locator): Promise<string> =>
  field.evaluate(
    (element: TextElement) =>
      element.value ??
      Array.from(element.querySelectorAll('.cm-line'), (line) =>
        line.querySelector('.cm-placeholder') === null ? line.textContent : '',
      ).join('\n'),
  );

/** Builds a script that presses keys within one turn of the event loop. */
export const pressing = (...keys: readonly string[]): string => `for (const key of ${JSON.stringify(keys)})
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));`;

/**
 * Presses two keys of a sequence. They must follow each other quickly, and a busy machine may be too slow for
 * separate key presses.
 */
export const pressBoth = (page: Page, ...keys: readonly [string, string]): Promise<unknown> =>
  page.evaluate(pressing(...keys));

/** Picks up an element with the pointer, and returns the box of the drag target. */
export async function pickUp(page: Page, thing: Locator, target: Locator) {
  const [from, over] = [await thing.boundingBox(), await target.boundingBox()];
  if (from === null || over === null) throw new Error('what is dragged, or where to, is not on the page');
  await page.mouse.move(from.x + 40, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 3 });
  return over;
}

/**
 * Keeps moving at a point until the element appears. The drag target is determined only when the pointer
 * moves.
 */
export async function dragUntil(
  page: Page,
  { x, y }: { readonly x: number; readonly y: number },
  shown: Locator,
): Promise<void> {
  let step = 0;
  await waitUntil(async () => {
    step += 1;
    await page.mouse.move(x + (step % 2), y);
    return (await shown.count()) > 0;
  });
}

/**
 * Returns a value for each element with that text: true if its first letter is drawn to the right of its last one, that
 * is, if the line is laid out from right to left.
 */
export const beginsAtTheRight = (page: Page, selector: string, text: string): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map(({ lastChild }) => lastChild)
    .filter((child) => child instanceof Text && child.data === ${JSON.stringify(text)})
    .map((child) => {
      const leftOf = (from) => {
        const range = document.createRange();
        range.setStart(child, from);
        range.setEnd(child, from + 1);
        return range.getBoundingClientRect().left;
      };
      return leftOf(0) > leftOf(child.length - 1);
    })`);
