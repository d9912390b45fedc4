/** A real Chromium for the journeys: the machine's own. `npm test` installs Debian's where it is missing. */
import { it } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
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

/** What went wrong on a page without being seen: errors of scripts, and what the content policy refused. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // The first call asks whether a cookie is there.
    const isAnswer = text.startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) faults.push(text);
  });
  return faults;
}
