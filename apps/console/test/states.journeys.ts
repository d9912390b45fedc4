/** Tests what each page shows while its data loads, after a failure, and without permission. */
import { expect } from '@jest/globals';
import { type Page, type Route } from 'playwright-core';
import { goTo, intercept, journey } from './browser.ts';
import { pages } from './furnished.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

/** Matches the requests of the frame that all pages share. */
const frame = /\/api\/(session|events|projects\/list|notifications\/unreadCount)/;
/**
 * The pages that fetch nothing of their own. They only show the session and its identity, which the frame of
 * every page fetches.
 */
const asksNothing: readonly string[] = [
  '/settings/sessions',
  '/settings/general',
  // Points are off until the reader turns them on.
  '/settings/points',
  '/new-project',
  '/p/WEB/apply-plan',
];
const refusal = (status: number, code: string) => (route: Route) =>
  route.fulfill({
    ...{ status, contentType: 'application/json' },
    body: JSON.stringify({ code, message: 'No.', status, requestId: 'r', details: {} }),
  });

const states = [
  ['on its way', '[aria-busy="true"] button:text("Try again")', () => new Promise<void>(() => undefined)],
  ['failed', ':is(h1, h2):text("Couldn’t load this")', refusal(500, 'internal')],
  ['not to be seen', ':is(h1, h2):text("You don’t have access to this")', refusal(403, 'forbidden')],
] as const;

export function statesJourneys(house: House): void {
  const { open, keep, take } = useWindows(house);
  journey('says on every page that what it shows is on its way, failed, or not to be seen', async () => {
    const people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
    const addresses = pages
      .map(([address]) => address)
      .filter((address) => !address.includes('?') && !asksNothing.includes(address));
    // Tests all states at the same time, each in a window of its own.
    const windows: [Page, (typeof states)[number]][] = [];
    for (const state of states) windows.push([await open(people.ana.me.token, '/nowhere'), state]);
    const silent = windows.map(async ([page, [state, sign, answer]]) => {
      await page.getByRole('heading', { name: 'Not found' }).waitFor();
      await intercept(page, ({ pathname }) => pathname.startsWith('/api/') && !frame.test(pathname), answer);
      const missing: string[] = [];
      for (const address of addresses) {
        await house.go(page, address);
        await page
          .locator('main')
          .locator(sign)
          .first()
          .waitFor()
          .catch(() => missing.push(address));
      }
      return { state, missing };
    });
    expect(await Promise.all(silent)).toEqual(states.map(([state]) => ({ state, missing: [] })));
  });

  journey('sends requests again that are never answered, once someone asks for it', async () => {
    const { ana } = await house.world.org();
    const client = house.client(ana.me.token);
    await client.projects.create({ key: 'WEB', name: 'Web shop' });
    await client.stories.create({ projectId: 'WEB', title: 'Alpha' });
    const page = await open(ana.me.token, '/nowhere');
    await page.locator('.wire[data-state="live"]').waitFor();
    const never = () => new Promise<void>(() => undefined);
    for (const [address, operation, sign] of [
      ['/p/WEB', '/api/stories/list', 'Alpha'],
      ['/activity', '/api/activity/list', 'created'],
    ] as const) {
      // The first matching request of each page never gets a response; the second one does.
      await intercept(page, `**${operation}`, never, { times: 1 });
      await house.go(page, address);
      const main = page.locator('main');
      await main.getByText('Muster hasn’t answered yet').waitFor();
      expect(await page.locator('.wire').getAttribute('data-state')).toBe('live');
      await main.getByRole('button', { name: 'Try again' }).click();
      await main.getByText(sign).first().waitFor();
    }
  });

  journey('offers to ask again who is there where no answer comes', async () => {
    const { page } = keep(await house.visit('/'));
    let isAway = true;
    await page.route('**/auth/session', (route) =>
      isAway ? new Promise<void>(() => undefined) : route.continue(),
    );
    await page.goto(page.url());
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    isAway = false;
    await again.click();
    await page.getByLabel('Token').waitFor();
  });

  journey('asks again who is there where the network cut the question off', async () => {
    const { page } = keep(await house.visit('/'));
    await page.route('**/auth/session', (route) => route.abort(), { times: 2 });
    await goTo(page, page.url());
    await page.getByLabel('Token').waitFor();
  });

  journey('says at once what waits for the connection, and goes on once it is back', async () => {
    const { ana } = await house.world.org();
    const client = house.client(ana.me.token);
    await client.projects.create({ key: 'WEB', name: 'Web shop' });
    await client.stories.create({ projectId: 'WEB', title: 'Alpha' });
    const page = await open(ana.me.token, '/s/WEB-1');
    const comment = page.getByRole('textbox', { name: 'Comment' });
    await comment.fill('Do we keep the card?');
    await page.context().setOffline(true);
    await page.locator('.wire[data-state="lost"]').waitFor();
    await page.getByRole('button', { name: 'Comment' }).click();
    await page.getByText('Your text is sent as soon as the connection is back').waitFor();
    await page.context().setOffline(false);
    await page.locator('.said').getByText('Do we keep the card?').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Activity', exact: true }).click();
    await page.getByText('This loads as soon as the connection is back').first().waitFor();
    await page.context().setOffline(false);
    await page.locator('main').getByText('commented on').waitFor();
    // The browser reports each file that it could not load.
    const [window] = take();
    await window?.close();
  });

  journey('asks again for a script that the network lost on its way', async () => {
    const { ana } = await house.world.org();
    const page = await open(ana.me.token, '/nowhere');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    let lost = 0;
    await intercept(
      page,
      /\/help-[^/]+\.js$/,
      (route) => {
        lost += 1;
        return route.abort('internetdisconnected');
      },
      { times: 2 },
    );
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    expect(lost).toBe(2);
    // The browser reports both lost requests as faults.
    const [window] = take();
    expect(window?.faults).toHaveLength(2);
    await window?.close();
  });
}
