/** Tests keyboard shortcuts on cards and stories, including keys that must do nothing. */
import { beforeEach, expect } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type Locator, type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { intercept, journey, pressBoth, pressing } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function keysJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: ['Gamma'], in_progress: [] });
  });

  const focused = (page: Page, name: string | RegExp): Locator =>
    page.locator(':focus').and(page.getByRole('link', { name }));
  /** Opens the board with the focus on its first card. */
  async function openBoard(): Promise<Page> {
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.getByRole('link', { name: 'Alpha' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await focused(page, 'Alpha').waitFor();
    return page;
  }
  async function press(page: Page, ...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }
  const menu = (page: Page): Locator => page.getByRole('menu');
  const story = async (storyId = 'WEB-1') =>
    (await house.client(people.ana.me.token).stories.get({ storyId })).story;
  /** Collects the write calls from now on. */
  function writesOf(page: Page): string[] {
    const found: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (/\/api\/(stories|assignments|reviewers)\/(?!list|get)/.test(pathname)) found.push(pathname);
    });
    return found;
  }

  journey('sets the priority, the assignee, the reviewers and the status of a card by keys', async () => {
    const page = await openBoard();
    const card = page.locator('.card', { hasText: 'Alpha' });
    await press(page, 'p');
    await menu(page).getByText('Urgent').waitFor();
    await press(page, 'u', 'Enter');
    await card.getByText('Urgent').waitFor({ state: 'attached' });
    await focused(page, 'Alpha').waitFor();
    await waitUntil(async () => (await story()).priority === 'urgent');
    await press(page, 'a');
    await menu(page).getByText('Ben').waitFor();
    await press(page, 'b', 'Enter');
    await card.getByText('Ben').waitFor({ state: 'attached' });
    await press(page, 'r');
    await menu(page).getByText('Chloé').waitFor();
    await press(page, 'c', 'Enter');
    await card.getByText('1 reviewer').waitFor({ state: 'attached' });
    await press(page, 's');
    await menu(page).getByText('In review').waitFor();
    await press(page, 'i', 'i', 'Enter');
    await page.getByRole('region', { name: 'In review', exact: true }).getByText('Alpha').waitFor();
    await focused(page, 'Alpha').waitFor();
    await waitUntil(async () => (await story()).status === 'in_review');
    // After the card has left the board, the next card of the column gets the focus.
    await press(page, 'h');
    await focused(page, 'Gamma').waitFor();
    await press(page, 'h');
    await focused(page, 'Beta').waitFor();
    await press(page, 's', 'End', 'Enter');
    await page.getByText('Beta').waitFor({ state: 'detached' });
    expect((await story('WEB-2')).status).toBe('canceled');
    const { reviewers, assignments } = house.client(people.ana.me.token);
    expect((await reviewers.list({ storyId: 'WEB-1' })).items.map((one) => one.reviewer.name)).toEqual([
      'Chloé',
    ]);
    expect(
      (await assignments.listForProject({ projectId: 'WEB' })).items.map((one) => one.member?.name),
    ).toEqual(['Ben']);
  });

  journey('sets the priority and the status of all that are selected, and says how many', async () => {
    const page = await openBoard();
    const { stories } = house.client(people.ben.me.token);
    await stories.update({ storyId: 'WEB-2', priority: 'low' });
    await page.locator('.card', { hasText: 'Beta' }).getByText('Low').waitFor({ state: 'attached' });
    await press(page, 'x', 'ArrowDown', 'x', 'p');
    const menuOf = (name: string): Locator => page.getByRole('menu', { name, exact: true });
    const chosen = page.getByRole('toolbar', { name: 'All selected stories' });
    // The selected stories have different priorities, so the menu itself has the focus and Enter changes
    // nothing.
    await menuOf('Priority of 2 stories').and(page.locator(':focus')).waitFor();
    await press(page, 'Enter', 'u', 'Enter');
    await page.locator('.notice', { hasText: '2 stories were changed' }).waitFor();
    expect([(await story()).priority, (await story('WEB-2')).priority]).toEqual(['urgent', 'urgent']);
    // The API refuses to move one of the two stories. It stays selected, and the message names it.
    await focused(page, 'Beta').waitFor();
    await press(page, 'x', 'ArrowUp', 'x');
    await chosen.getByText('2 selected').waitFor();
    await press(page, 's');
    await menuOf('Status of 2 stories')
      .getByRole('menuitemradio', { name: 'Backlog', checked: true })
      .waitFor();
    await intercept(
      page,
      '**/api/stories/updateMany',
      async (route) => {
        type Sent = InputOf<Registry['stories']['updateMany']>;
        const { storyIds, set } = route.request().postDataJSON() as Sent;
        const [storyId, ...others] = storyIds;
        const response = await route.fetch({ postData: { storyIds: others, set } });
        const { results } = (await response.json()) as { results: object[] };
        const refused = { storyId, outcome: 'refused', reason: 'policy', message: 'Not now.', version: null };
        await route.fulfill({ response, json: { results: [refused, ...results] } });
      },
      { times: 1 },
    );
    await press(page, 'd', 'Enter');
    await page.locator('.notice', { hasText: 'Not changed: WEB-1' }).getByText('Not now.').waitFor();
    await chosen.getByText('1 selected').waitFor();
    await page.getByRole('region', { name: 'Done', exact: true }).getByText('Beta').waitFor();
    expect([(await story()).status, (await story('WEB-2')).status]).toEqual(['backlog', 'done']);
    // After the card has left the board, the focus moves to a card that is still there.
    await focused(page, 'Alpha').waitFor();
    await stories.create({ projectId: 'WEB', title: 'Delta', columnId: (await story()).columnId ?? '' });
    await page.getByRole('link', { name: 'Delta' }).waitFor();
    await stories.create({ projectId: 'WEB', title: 'Epsilon', columnId: (await story()).columnId ?? '' });
    await page.getByRole('link', { name: 'Epsilon' }).waitFor();
    await press(page, 'ArrowDown', 'x', 's', 'End', 'Enter');
    await page.locator('.notice', { hasText: '2 stories were changed' }).first().waitFor();
    await focused(page, 'Epsilon').waitFor();
    expect([(await story()).status, (await story('WEB-4')).status]).toEqual(['canceled', 'canceled']);
  });

  journey('writes nothing where a choice is given up, or is what holds already', async () => {
    const page = await openBoard();
    const writes = writesOf(page);
    for (const key of ['s', 'a', 'p', 'r']) {
      await press(page, key);
      await menu(page).waitFor();
      await press(page, 'ArrowDown', 'Escape');
      await menu(page).waitFor({ state: 'detached' });
      await focused(page, 'Alpha').waitFor();
    }
    // Enter selects the initial option, which is the current value.
    for (const key of ['s', 'a', 'p']) {
      await press(page, key);
      await menu(page).waitFor();
      await press(page, 'Enter');
      await menu(page).waitFor({ state: 'detached' });
    }
    await press(page, 'p', 'ArrowUp');
    await page.getByRole('heading', { name: 'Web shop' }).click();
    await menu(page).waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/\/p\/WEB$/);
    expect(writes).toEqual([]);
    expect((await story()).version).toBe(1);
  });

  journey(
    'leaves keys to the field they are typed in, and does nothing by them where they are off',
    async () => {
      const page = await openBoard();
      const writes = writesOf(page);
      await press(page, '/');
      await page.keyboard.type('spar');
      expect(await page.getByRole('searchbox', { name: 'Filter stories' }).inputValue()).toBe('spar');
      expect(await menu(page).count()).toBe(0);
      await page.getByRole('searchbox', { name: 'Filter stories' }).fill('');
      await press(page, 'Escape', '?');
      await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck();
      await press(page, 'Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Alpha' }).focus();
      await press(page, 's', 'a', 'p', 'r', 'x', 'm');
      expect(await menu(page).count()).toBe(0);
      expect(writes).toEqual([]);
    },
  );

  journey('takes the second of two keys for no command of the card it is pressed on', async () => {
    const page = await openBoard();
    await pressBoth(page, 'g', 'p');
    await pressBoth(page, 'g', 'x');
    await page.waitForTimeout(100);
    expect(await menu(page).count()).toBe(0);
    expect(await page.getByText('1 selected').count()).toBe(0);
    await pressBoth(page, 'g', 's');
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    // Shortcuts to the board, the epics and the health page use the project that was opened last.
    await pressBoth(page, 'g', 'e');
    await page.getByRole('heading', { name: 'Epics and groups' }).waitFor();
    await pressBoth(page, 'g', 'h');
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await pressBoth(page, 'g', 'b');
    await page.getByRole('link', { name: 'Alpha' }).waitFor();
  });

  journey('does nothing to a card by what is typed before the menu is there', async () => {
    const page = await open(people.ana.me.token, '/');
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await intercept(page, '**/assets/*chooser-*', async (route) => {
      await held;
      await route.continue();
    });
    await page.evaluate(
      `history.pushState(null, '', '/console/p/WEB'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByRole('link', { name: 'Alpha' }).waitFor();
    await press(page, 'ArrowDown', 'p', 'x', 'm', 'Enter', 'j');
    expect(page.url()).toMatch(/\/p\/WEB$/);
    await focused(page, 'Alpha').waitFor();
    letGo();
    await menu(page).waitFor();
    await press(page, 'Escape');
    await focused(page, 'Alpha').waitFor();
    expect(await page.getByText('1 selected').count()).toBe(0);
  });

  journey('leaves the entries of an open menu where they are while they are read anew', async () => {
    const page = await openBoard();
    await press(page, 'r');
    await menu(page).getByText('Chloé').waitFor();
    // After an event on the story, the page refetches the reviewers. That request gets no response.
    const asked = page.waitForRequest('**/api/reviewers/list');
    await intercept(page, '**/api/reviewers/list', () => undefined);
    await house
      .client(people.ben.me.token)
      .reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId });
    await asked;
    await press(page, 'c', 'Enter');
    await page.locator('.card', { hasText: 'Alpha' }).getByText('2 reviewers').waitFor({ state: 'attached' });
  });

  journey('keeps a menu open, at its card, while a key or another scrolls the column to it', async () => {
    const page = await openBoard();
    const backlog = Array.from({ length: 24 }, (_, at) => `Story ${at}`);
    const { stories } = house.client(people.ana.me.token);
    for (const title of backlog) await stories.create({ projectId: 'WEB', title, status: 'backlog' });
    await page
      .getByRole('region', { name: 'Backlog', exact: true })
      .getByText('26', { exact: true })
      .waitFor();
    await press(page, 'p');
    await menu(page).waitFor();
    await press(page, 'Escape');
    await focused(page, 'Alpha').waitFor();
    // The keys open the menu before the browser sends the scroll event of the column. That event must not
    // close the menu.
    const scrolled = `new Promise((resolve) => {
      document.addEventListener('scroll', () => requestAnimationFrame(() => requestAnimationFrame(() => resolve(''))), { capture: true, once: true });
      ${pressing('End', 'p')}
    })`;
    await page.evaluate(scrolled);
    expect(await menu(page).count()).toBe(1);
    const card = page.locator('.card', { hasText: 'Story 23' });
    const beside = async (): Promise<boolean> => {
      const [one, other] = [await menu(page).boundingBox(), await card.boundingBox()];
      if (one === null || other === null) return false;
      return Math.abs(one.x - other.x) < 1 && Math.abs(one.y + one.height + 4 - other.y) < 1;
    };
    await waitUntil(beside);
    const scrollBy = (top: number): Promise<unknown> =>
      page.evaluate(`document.querySelector('.column-scroll').scrollBy(0, ${top})`);
    await scrollBy(-60);
    await waitUntil(beside);
    // The menu closes once its card is out of view.
    await scrollBy(-9_999);
    await menu(page).waitFor({ state: 'detached' });
    expect((await story('WEB-27')).priority).toBe('none');
  });

  journey('shows a priority that another set beside mine, and overwrites neither', async () => {
    const page = await openBoard();
    await press(page, 'p');
    await menu(page).waitFor();
    await intercept(page, '**/api/stories/list', (route) => route.abort(), { times: 1 });
    await house.client(people.ben.me.token).stories.update({ storyId: 'WEB-1', priority: 'low' });
    await press(page, 'u', 'Enter');
    const notice = page.locator('.notice', { hasText: 'Someone else just changed WEB-1' });
    await notice.getByText('Theirs: Low · Yours: Urgent').waitFor();
    expect((await story()).priority).toBe('low');
    await notice.getByRole('button', { name: 'Keep theirs' }).click();
    await page.locator('.card', { hasText: 'Alpha' }).getByText('Low').waitFor({ state: 'attached' });
    expect((await story()).priority).toBe('low');
  });

  journey('opens the same menus on the page of a story', async () => {
    const page = await open(people.ana.me.token, '/s/WEB-1');
    // The keys work once the role in the project is known.
    await page.getByRole('combobox', { name: 'Agent' }).waitFor();
    await press(page, 'p');
    await menu(page).waitFor();
    await press(page, 'h', 'Enter');
    await waitUntil(async () => (await story()).priority === 'high');
    await press(page, 's');
    await menu(page).waitFor();
    await press(page, 'r', 'Enter');
    await waitUntil(async () => (await story()).status === 'ready');
    await press(page, 'a');
    await menu(page).getByText('Robo').waitFor();
    await press(page, 'r', 'Enter');
    await waitUntil(
      async () =>
        (await page.getByRole('combobox', { name: 'Agent' }).locator('option:checked').textContent()) ===
        'Robo',
    );
    await press(page, 'r');
    await menu(page).getByText('Ben').waitFor();
    await press(page, 'b', 'Enter');
    await page.locator('.reviewer', { hasText: 'Ben' }).waitFor();
    // A viewer may not change the story, so the keys open no menus.
    const theirs = await open(people.dan.me.token, '/s/WEB-1');
    await theirs.getByRole('heading', { name: 'Alpha' }).waitFor();
    await press(theirs, 's', 'a', 'p', 'r');
    expect(await menu(theirs).count()).toBe(0);
  });
}
