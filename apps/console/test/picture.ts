/**
 * Takes the light and the dark screenshot at the top of the README, of the demo that npm start runs: node
 * apps/console/test/picture.ts [address]. It waits until the demo's agent is at work.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { browserFlags, findBrowser } from '@muster/testing/browser';

const folder = path.resolve(import.meta.dirname, '../../../docs/pictures');
const [address = 'http://127.0.0.1:4100/console/'] = process.argv.slice(2);

const executablePath = findBrowser();
if (executablePath === undefined) throw new Error('there is no Chromium here');
const browser = await chromium.launch({ executablePath, args: browserFlags() });
try {
  // The height makes the columns end between two cards.
  const page = await browser.newPage({ viewport: { width: 1440, height: 690 } });
  await page.goto(address);
  await page.getByRole('button', { name: /^Sign in as/ }).click();
  await page.goto(new URL('p/WEB', address).href);
  await page.locator('.card-work[data-state="leased"] .bar').first().waitFor({ timeout: 300_000 });
  await page.getByText('Live', { exact: true }).waitFor();
  await mkdir(folder, { recursive: true });
  for (const [colorScheme, name] of Object.entries({ light: 'board.png', dark: 'board-dark.png' })) {
    await page.emulateMedia({ colorScheme: colorScheme as 'light' | 'dark' });
    const picture = await page.screenshot();
    await writeFile(path.join(folder, name), picture);
    process.stdout.write(`${name}: ${picture.length} bytes\n`);
  }
} finally {
  await browser.close();
}
