/** A real Chromium for the journeys: the machine's own. `npm test` installs Debian's where it is missing. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { it } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

function findBrowser(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env;
  if (CHROMIUM !== undefined) return CHROMIUM;
  const folders = [...PATH.split(path.delimiter), '/usr/bin'];
  return folders
    .flatMap((folder) =>
      ['chromium', 'chromium-browser', 'google-chrome'].map((name) => path.join(folder, name)),
    )
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const program = findBrowser();

/** A journey by a browser; without one it is skipped, and counted so. */
export const journey = program === undefined ? it.skip : it;
if (program === undefined)
  console.warn('There is no Chromium here: the journeys of the console are skipped.');

/** Undefined where there is none. */
export async function launch(): Promise<Browser | undefined> {
  if (program === undefined) return undefined;
  // As root it has no sandbox of its own, and containers have little shared memory.
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath: program, args });
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
