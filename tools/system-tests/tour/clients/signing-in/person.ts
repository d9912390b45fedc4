/** A person who signs in with a real browser and approves a client as one of their agents. */
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { chromium } from 'playwright-core';

export interface SigningPerson {
  /** Approves the client. Returns the problem, or undefined if the browser returned to the client. */
  letIn(address: string, agentName: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export async function openPerson(baseUrl: string): Promise<SigningPerson> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('there is no Chromium (CHROMIUM names one)');
  const browser = await chromium.launch({ executablePath, args: browserFlags() });
  const context = await browser.newContext();
  return {
    letIn: async (address, agentName) => {
      const page = await context.newPage();
      try {
        await page.goto(address);
        const demo = page.getByRole('button', { name: 'Sign in as' });
        const connect = page.getByRole('button', { name: 'Connect', exact: true });
        const trouble = page.getByRole('heading', { name: 'Something went wrong' });
        await demo.or(connect).or(trouble).first().waitFor();
        if (await demo.isVisible()) await demo.click();
        await connect.or(trouble).first().waitFor();
        if (await trouble.isVisible()) return await page.locator('main').innerText();
        await page.getByRole('radio', { name: /^New agent/ }).check();
        await page.locator('input[name=agentName]').fill(agentName);
        await page.getByLabel('All projects').check();
        await connect.click();
        await page.waitForURL(({ origin }) => origin !== baseUrl);
        await page.waitForLoadState();
        return undefined;
      } finally {
        await page.close();
      }
    },
    close: () => browser.close(),
  };
}
