/** Tests a board that two people use at the same time, in real windows. */
import { isDeepStrictEqual } from 'node:util';
import { beforeEach, expect } from '@jest/globals';
import { type Locator, type Page, type Request } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { beginsAtTheRight, dragUntil, goTo, intercept, journey, pickUp } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function boardJourneys(house: House): void {
  let people: People;
  const windows = useWindows(house);
  const { open } = windows;
  beforeEach(async () => {
    people = await house.world.org();
  });

  const column = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
  const titles = async (page: Page, name: string): Promise<string[]> =>
    column(page, name).locator('.card-title').allTextContents();
  const card = (page: Page, title: string): Locator => page.getByRole('link', { name: title });
  const said = (page: Page): Locator => page.getByTestId('spoken');
  /** Waits until a column has exactly these cards, from top to bottom. */
  const shows = (page: Page, name: string, wanted: readonly string[]): Promise<void> =>
    waitUntil(async () => isDeepStrictEqual(await titles(page, name), wanted));
  /** Drags a card with the pointer and releases it once the column shows the drop position. */
  async function drag(page: Page, title: string, name: string, above?: string): Promise<void> {
    const to = above === undefined ? column(page, name).locator('.column-scroll') : card(page, above);
    const over = await pickUp(page, card(page, title), to);
    const at = { x: over.x + 60, y: over.y + (above === undefined ? 300 : 6) };
    await page.mouse.move(at.x, at.y, { steps: 6 });
    await dragUntil(page, at, column(page, name).locator('.drop-line'));
    await page.mouse.up();
  }
  const demo = { backlog: ['Alpha', 'Beta', 'Gamma'], ready: ['Delta'], in_progress: [] };

  journey('opens by a token, which it keeps out of every store', async () => {
    await arrange(house, people, demo);
    const { token } = people.ana.me;
    const { page } = windows.keep(await house.visit('/p/WEB'));
    await page.getByLabel('Token').fill('must_live_none');
    await page.keyboard.press('Enter');
    await page.getByText('This token is unknown').waitFor();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(stored).not.toContain(token.slice(0, 20));
    await goTo(page, page.url());
    await page.getByLabel('Token').waitFor();
  });

  journey('offers first steps on an empty board, and shows the epic and the estimate on a card', async () => {
    const client = house.client(people.ana.me.token);
    await client.projects.create({ key: 'WEB', name: 'Web shop' });
    const [mine, viewer] = await Promise.all([
      open(people.ana.me.token, '/p/WEB'),
      open(people.dan.me.token, '/p/WEB'),
    ]);
    const start = mine.getByRole('region', { name: 'This board is empty' });
    await start.getByRole('link', { name: 'Import stories' }).waitFor();
    await start.getByRole('button', { name: 'Add story' }).click();
    await mine.getByRole('textbox', { name: 'Add a story to Backlog' }).fill('Alpha');
    await mine.keyboard.press('Enter');
    await shows(mine, 'Backlog', ['Alpha']);
    await shows(viewer, 'Backlog', ['Alpha']);
    await start.waitFor({ state: 'detached' });
    const { epic } = await client.epics.create({ projectId: 'WEB', title: 'Sign up', color: '#3366cc' });
    await client.stories.update({ storyId: 'WEB-1', epicId: epic.id, estimate: 3 });
    for (const page of [mine, viewer]) {
      await card(page, 'Alpha').getByText('Sign up').waitFor();
      await card(page, 'Alpha').getByText('3 pt').waitFor();
    }
    await client.stories.create({
      projectId: 'WEB',
      title: 'Beta',
      parentId: 'WEB-1',
      dueDate: '2099-05-01',
    });
    for (const page of [mine, viewer]) {
      await card(page, 'Alpha').getByText('0/1').waitFor();
      await card(page, 'Beta').getByTitle('Due ', { exact: false }).waitFor();
    }
    await client.stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
    for (const page of [mine, viewer]) await card(page, 'Alpha').getByText('1/1').waitFor();
  });

  journey('shows in one window what is dragged in another', async () => {
    await arrange(house, people, demo);
    const [mine, theirs] = await Promise.all([
      open(people.ana.me.token, '/p/WEB'),
      open(people.ben.me.token, '/p/WEB'),
    ]);
    await shows(theirs, 'Ready', ['Delta']);
    await drag(mine, 'Beta', 'Ready', 'Delta');
    await shows(mine, 'Ready', ['Beta', 'Delta']);
    await shows(theirs, 'Ready', ['Beta', 'Delta']);
    expect(await titles(theirs, 'Backlog')).toEqual(['Alpha', 'Gamma']);
    await drag(theirs, 'Beta', 'Done');
    await shows(mine, 'Done', ['Beta']);
    const { items } = await house
      .client(people.ana.me.token)
      .stories.list({ projectId: 'WEB', status: 'done' });
    expect(items.map(({ title }) => title)).toEqual(['Beta']);
  });

  journey('scrolls a column while a card is held at its edge', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `Card ${index + 1}`);
    await arrange(house, people, { backlog: many, ready: [], in_progress: [] });
    const page = await open(people.ana.me.token, '/p/WEB');
    const list = column(page, 'Backlog').locator('.column-scroll');
    const over = await pickUp(page, card(page, 'Card 1').first(), list);
    // A column renders only the cards in view.
    expect(await card(page, 'Card 30').count()).toBe(0);
    // Drags to sixty pixels above the bottom edge, where the browser itself would not scroll yet.
    await dragUntil(page, { x: over.x + 60, y: over.y + over.height - 60 }, card(page, 'Card 30'));
    await page.mouse.up();
    await waitUntil(async () => (await titles(page, 'Backlog')).indexOf('Card 1') > 3);
  });

  journey('walks and moves by keys alone, and says where the card is', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    await page.keyboard.press('j');
    await page.locator('[data-card]:focus', { hasText: 'Alpha' }).waitFor();
    await page.keyboard.press('End');
    await page.locator('[data-card]:focus', { hasText: 'Gamma' }).waitFor();
    await page.keyboard.press('m');
    await said(page).getByText('Backlog, 3 of 3').waitFor();
    await page.keyboard.press('ArrowRight');
    await said(page).getByText('Ready, 2 of 2').waitFor();
    await page.keyboard.press('ArrowUp');
    await said(page).getByText('Ready, 1 of 2').waitFor();
    await page.keyboard.press('Escape');
    await said(page).getByText('is back where it was').waitFor();
    expect(await titles(page, 'Backlog')).toEqual(['Alpha', 'Beta', 'Gamma']);
    await page.locator('[data-card]:focus', { hasText: 'Gamma' }).waitFor();
    for (const key of ['m', 'ArrowRight', 'ArrowUp', ' ']) await page.keyboard.press(key);
    await said(page).getByText('dropped. Ready, 1 of 2.').waitFor();
    await shows(page, 'Ready', ['Gamma', 'Delta']);
    await page.locator('[data-card]:focus', { hasText: 'Gamma' }).waitFor();
    const { items } = await house
      .client(people.ana.me.token)
      .stories.list({ projectId: 'WEB', status: 'ready' });
    expect(items.map(({ title }) => title)).toEqual(['Gamma', 'Delta']);
  });

  journey('moves by a menu too, for those who can neither drag nor type', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await card(page, 'Alpha').hover();
    await page.getByRole('button', { name: 'Actions for WEB-1' }).click();
    await page.getByRole('menuitem', { name: 'Move to bottom' }).click();
    await shows(page, 'Backlog', ['Beta', 'Gamma', 'Alpha']);
    await page.getByRole('button', { name: 'Actions for WEB-1' }).click();
    await page.getByRole('menuitem', { name: 'Move to In progress' }).click();
    await shows(page, 'In progress', ['Alpha']);
  });

  journey('adds stories one after the other where one asks for it', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await column(page, 'Ready').getByRole('button', { name: 'Add a story to Ready' }).click();
    await page.keyboard.type('Epsilon');
    await page.keyboard.press('Enter');
    await shows(page, 'Ready', ['Delta', 'Epsilon']);
    await page.keyboard.type('Zeta');
    await page.keyboard.press('Enter');
    await shows(page, 'Ready', ['Delta', 'Epsilon', 'Zeta']);
  });

  journey('writes a title in the direction of its own first letter', async () => {
    await arrange(house, people, demo);
    const title = 'مرحبا English 123';
    const { story } = await house.client(people.ana.me.token).stories.create({ projectId: 'WEB', title });
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.locator('.card-title', { hasText: title }).waitFor();
    expect(await beginsAtTheRight(page, '.card-title', title)).toEqual([true]);
    const activity = await open(people.ana.me.token, `/activity?story=${story.key}`);
    await activity.locator('.row-title', { hasText: title }).waitFor();
    expect(await beginsAtTheRight(activity, '.row-title', title)).toEqual([true]);
  });

  journey('keeps a filter in the address, for a reader who is sent it', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Ready', ['Delta']);
    await page.keyboard.press('/');
    await page.keyboard.type('alp');
    await shows(page, 'Backlog', ['Alpha']);
    await page.waitForURL(/q=alp/);
    const other = await open(people.ben.me.token, new URL(page.url()).href.split('/console')[1] ?? '');
    await shows(other, 'Backlog', ['Alpha']);
    await other.getByRole('button', { name: 'Clear filters' }).click();
    await shows(other, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
  });

  journey('shows a change by another beside mine, and overwrites neither', async () => {
    await arrange(house, people, demo);
    const { page } = windows.keep(await house.visit('/p/WEB'));
    // This window has no event stream, so its board becomes outdated.
    await intercept(page, '**/api/events/stream*', (route) => route.abort());
    await page.getByLabel('Token').fill(people.ana.me.token);
    await page.keyboard.press('Enter');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    const ben = house.client(people.ben.me.token);
    await ben.stories.updateStatus({ storyId: 'WEB-1', status: 'in_review' });
    await drag(page, 'Alpha', 'Done');
    await page.locator('.notice', { hasText: 'Someone else just changed WEB-1' }).waitFor();
    await page.locator('.notice p', { hasText: 'Theirs: In review, No priority · Yours: Done' }).waitFor();
    await shows(page, 'In review', ['Alpha']);
    expect((await ben.stories.get({ storyId: 'WEB-1' })).story.status).toBe('in_review');
    await page.getByRole('button', { name: 'Move anyway' }).click();
    await shows(page, 'Done', ['Alpha']);
    await waitUntil(async () => (await ben.stories.get({ storyId: 'WEB-1' })).story.status === 'done');
    // A concurrent change of another field does not prevent the move.
    await ben.stories.update({ storyId: 'WEB-2', priority: 'urgent' });
    await drag(page, 'Beta', 'Ready');
    await shows(page, 'Ready', ['Delta', 'Beta']);
    await waitUntil(async () => {
      const { story } = await ben.stories.get({ storyId: 'WEB-2' });
      return story.status === 'ready' && story.priority === 'urgent';
    });
  });

  journey('shows the latest of a card, though an answer from before comes after it', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isHeld = (): void => undefined;
    const answered = new Promise<void>((resolve) => (isHeld = resolve));
    await intercept(
      page,
      '**/api/stories/list',
      async (route) => {
        const response = await route.fetch();
        isHeld();
        await held;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    // Assignments and reviewers are not fields of the story, so changing them creates no new version of the
    // story.
    const ben = house.client(people.ben.me.token);
    const [alpha, memberId] = [{ storyId: 'WEB-1' }, people.ben.me.memberId];
    await ben.assignments.set({ targetType: 'story', targetId: 'WEB-1', memberId });
    await answered;
    await ben.reviewers.add({ ...alpha, memberId });
    const reviewed = page.locator('.card', { hasText: 'Alpha' }).getByText('1 reviewer');
    await reviewed.waitFor({ state: 'attached' });
    const late = page.waitForResponse('**/api/stories/list');
    letGo();
    await (await late).finished();
    // This later change is visible on the page, so the page has also applied the earlier response.
    await ben.stories.update({ storyId: 'WEB-2', title: 'Later' });
    await shows(page, 'Backlog', ['Alpha', 'Later', 'Gamma']);
    expect(await reviewed.count()).toBe(1);
  });

  journey('says quietly that it lost the wire, and misses nothing by it', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.getByText('Live', { exact: true }).waitFor();
    // When a card gets the focus, the script of the story page is prefetched. This must happen before the API
    // becomes unavailable.
    const fetched = page.waitForEvent('requestfinished', (request) => /\/story-page-/.test(request.url()));
    await card(page, 'Beta').focus();
    await fetched;
    await house.whileApiIsAway(async () => {
      await page.locator('.wire', { hasText: 'Reconnecting' }).waitFor();
      // The warning is also visible where the rail has no room for text.
      const line = page.locator('.wire-line', { hasText: 'Reconnecting' });
      expect(await line.isVisible()).toBe(false);
      for (const width of [1_024, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await line.isVisible()).toBe(true);
      }
      await page.setViewportSize({ width: 1_440, height: 900 });
      expect(await titles(page, 'Backlog')).toEqual(['Alpha', 'Beta', 'Gamma']);
    });
    await house.client(people.ben.me.token).stories.updateStatus({ storyId: 'WEB-2', status: 'in_progress' });
    await shows(page, 'In progress', ['Beta']);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.locator('.wire-line').count()).toBe(0);
    // The card still has the focus.
    await page.locator('[data-card]:focus', { hasText: 'Beta' }).waitFor();
  });

  journey(
    'hears of everything in more windows than there are streams, also once the first is closed',
    async () => {
      await arrange(house, people, demo);
      const { token } = people.ana.me;
      const first = windows.keep(await house.open(token, '/p/WEB')).page;
      let streams = 0;
      const count = (request: Request): void => {
        if (new URL(request.url()).pathname === '/api/events/stream') streams += 1;
      };
      first.context().on('request', count);
      const pages = [first];
      // Opens four more windows. A member may have only four event streams, so the five windows must share.
      for (const _ of Array(4).keys()) {
        const page = await first.context().newPage();
        await goTo(page, `${house.url()}/console/p/WEB`);
        await page.getByLabel('Token').fill(token);
        await page.keyboard.press('Enter');
        pages.push(page);
      }
      const all = async (look: (page: Page) => Promise<unknown>): Promise<void> => {
        for (const page of pages) {
          await page.bringToFront();
          await look(page);
        }
      };
      await all((page) => page.getByText('Live', { exact: true }).waitFor());
      const ben = house.client(people.ben.me.token);
      await ben.stories.updateStatus({ storyId: 'WEB-2', status: 'in_progress' });
      await all((page) => shows(page, 'In progress', ['Beta']));
      // The windows share one event stream. On a slow machine another window may take over and open a new
      // stream, so the count may be above one. Four streams would mean that the windows do not share.
      expect(streams).toBeLessThan(4);
      await first.goto('about:blank');
      pages.shift();
      await ben.stories.updateStatus({ storyId: 'WEB-3', status: 'in_review' });
      await all((page) => shows(page, 'In review', ['Gamma']));
      await all((page) => page.getByText('Live', { exact: true }).waitFor());
      first.context().off('request', count);
      expect(streams).toBeGreaterThan(0);
    },
  );

  journey('shows the same nothing for a project that is hidden and one that is not there', async () => {
    const ana = house.client(people.ana.me.token);
    await ana.projects.create({ key: 'SECRET', name: 'Secret', visibility: 'private' });
    const seen = [];
    for (const address of ['/p/SECRET', '/p/NOPE']) {
      const page = await open(people.dan.me.token, address);
      await page.getByRole('heading', { name: 'Not found' }).waitFor();
      seen.push(await page.locator('main').textContent());
    }
    expect(seen[0]).toBe(seen[1]);
  });

  journey('offers no change to who may not make any', async () => {
    await arrange(house, people, demo);
    const page = await open(people.dan.me.token, '/p/WEB');
    await shows(page, 'Ready', ['Delta']);
    expect(await page.getByRole('button', { name: /Add a story/ }).count()).toBe(0);
    await card(page, 'Alpha').focus();
    await page.keyboard.press('m');
    await page.keyboard.press('c');
    await page.keyboard.press('ArrowDown');
    await page.locator('[data-card]:focus', { hasText: 'Beta' }).waitFor();
    expect(await page.getByText('Arrows to move').count()).toBe(0);
  });

  journey('selects by keys, and changes all that are selected at once', async () => {
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    // All keys are dispatched within one frame, as can happen when a key is held down.
    await page.evaluate(`for (const key of 'jxjjx')
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));`);
    const bar = page.getByRole('toolbar', { name: 'All selected stories' });
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('combobox', { name: 'Move to…' }).selectOption({ label: 'Ready' });
    await shows(page, 'Ready', ['Delta', 'Alpha', 'Gamma']);
    await bar.waitFor({ state: 'detached' });
    // Someone else changes the same field of a selected story at the same time. The story stays selected, and
    // the message shows both values.
    const ben = house.client(people.ben.me.token);
    await card(page, 'Delta').focus();
    await page.keyboard.press('x');
    await intercept(
      page,
      '**/api/stories/updateMany',
      async (route) => {
        await ben.stories.update({ storyId: 'WEB-4', priority: 'low' });
        await route.continue();
      },
      { times: 1 },
    );
    await bar.getByRole('combobox', { name: 'Priority…' }).selectOption({ label: 'High' });
    const met = page.locator('.notice', { hasText: 'Someone else just changed 1 story' });
    await met.getByText('Theirs: WEB-4 Low · Yours: High').waitFor();
    await bar.getByText('1 selected').waitFor();
    const delta = async () => (await ben.stories.get({ storyId: 'WEB-4' })).story;
    expect(await delta()).toMatchObject({ priority: 'low' });
    await met.getByRole('button', { name: 'Change anyway' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await delta()).toMatchObject({ priority: 'high' });
  });
}
