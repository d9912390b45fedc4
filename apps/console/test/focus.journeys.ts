/** Tests the focus after a focused button disappears, for keyboard users. */
import { beforeEach } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { intercept, journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function focusJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta', 'Gamma'], ready: [], in_progress: [] });
  });

  const hasFocus = (page: Page, thing: Locator): Promise<void> => page.locator(':focus').and(thing).waitFor();

  journey('keeps the entry that is chosen by keys in view', async () => {
    const ana = house.client(people.ana.me.token);
    for (const key of ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX', 'SEVEN', 'EIGHT'])
      await ana.projects.create({ key, name: `Project ${key}` });
    const page = await open(people.ana.me.token, '/');
    await page.getByRole('link', { name: 'Project EIGHT' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).waitFor();
    const list = page.getByRole('listbox');
    const isInView = async (): Promise<boolean> => {
      const [one, all] = [
        await page.getByRole('option', { selected: true }).boundingBox(),
        await list.boundingBox(),
      ];
      return one !== null && all !== null && one.y >= all.y && one.y + one.height <= all.y + all.height;
    };
    for (const key of ['ArrowDown', 'ArrowUp'])
      for (const _ of Array(14).keys()) {
        await page.keyboard.press(key);
        await waitUntil(isInView);
      }
  });

  journey('goes on beside a story that is waited for no longer', async () => {
    const { stories } = house.client(people.ana.me.token);
    const blockers = [];
    for (const storyId of ['WEB-2', 'WEB-3']) blockers.push((await stories.get({ storyId })).story.id);
    await stories.update({ storyId: 'WEB-1', blockedBy: blockers });
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    for (const key of ['WEB-2', 'WEB-3']) {
      const remove = page.getByRole('button', { name: `Remove blocker ${key}` });
      await remove.press('Enter');
      await remove.waitFor({ state: 'detached' });
      await hasFocus(page, page.getByLabel('Add a blocking story'));
    }
  });

  journey('goes on beside a reviewer who is asked no longer', async () => {
    const { reviewers } = house.client(people.ana.me.token);
    await reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId });
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    const ask = page.getByRole('combobox', { name: 'Request a review' });
    await ask.waitFor();
    await page.getByRole('button', { name: 'Remove reviewer Ben' }).press('Enter');
    await page.getByText('No reviewer').waitFor();
    await hasFocus(page, ask);
    // When all members are reviewers, the button that asks for a review disappears.
    const { items } = await house.client(people.ana.me.token).members.list({});
    for (const { id } of items) await reviewers.add({ storyId: 'WEB-1', memberId: id });
    await ask.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove reviewer Ben' }).press('Enter');
    await ask.waitFor();
    await hasFocus(page, page.getByRole('list', { name: 'Reviewers' }));
  });

  journey('keeps what blocks a story until it is saved, and goes on at the button beside it', async () => {
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    await page.getByRole('button', { name: 'Mark as blocked' }).press('Enter');
    const note = page.getByLabel('What needs to happen');
    await note.fill('Legal says yes');
    await page.getByLabel('Who can unblock it').selectOption({ label: 'Ben' });
    await intercept(
      page,
      '**/api/stories/update',
      (route) =>
        route.fulfill({
          ...{ status: 403, contentType: 'application/json' },
          body: JSON.stringify({
            code: 'forbidden',
            message: 'No.',
            status: 403,
            requestId: 'r',
            details: {},
          }),
        }),
      { times: 1 },
    );
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await save.press('Enter');
    await page.locator('.notice', { hasText: 'WEB-1 could not be changed' }).waitFor();
    await waitUntil(async () => (await note.count()) === 1 && (await note.inputValue()) === 'Legal says yes');
    await save.press('Enter');
    await hasFocus(page, page.getByRole('button', { name: 'Unblock' }));
    await page.keyboard.press('Enter');
    await hasFocus(page, page.getByRole('button', { name: 'Mark as blocked' }));
  });

  journey('goes on beside a story that is taken out of a group, or comes first in it', async () => {
    const page = await open(people.chloe.me.token, '/p/WEB/epics');
    await page.getByRole('button', { name: 'New delivery group' }).click();
    const add = page.getByRole('combobox', { name: 'Add a story' });
    for (const key of ['WEB-1', 'WEB-2', 'WEB-3']) {
      await add.fill(key);
      await add.press('Enter');
      await page.getByRole('button', { name: `Remove ${key}` }).waitFor();
    }
    const up = page.getByRole('button', { name: 'Move WEB-3 up' });
    await up.press('Enter');
    await hasFocus(page, up);
    await page.keyboard.press('Enter');
    await hasFocus(page, add);
    const out = page.getByRole('button', { name: 'Remove WEB-1' });
    await out.press('Enter');
    await out.waitFor({ state: 'detached' });
    await hasFocus(page, add);
  });
}
