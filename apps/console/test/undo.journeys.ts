/** Tests that changes can be undone, stories followed, and notifications snoozed. */
import { beforeEach, expect } from '@jest/globals';
import { type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { dragUntil, journey, pickUp } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function undoJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta', 'Gamma'], ready: ['Delta'], in_progress: [] });
  });
  const ana = () => house.client(people.ana.me.token);
  const titles = (page: Page, column: string) =>
    page.getByRole('region', { name: column, exact: true }).locator('.card-title').allTextContents();
  const shows = (page: Page, column: string, wanted: readonly string[]) =>
    waitUntil(async () => (await titles(page, column)).join() === wanted.join());
  const notice = (page: Page) => page.locator('.notice');
  const undoButton = (page: Page) => page.getByRole('button', { name: 'Undo', exact: true });
  /** Moves Beta to the column Ready with the keyboard. */
  async function moveBeta(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Beta' }).focus();
    for (const key of ['m', 'ArrowRight', ' ']) await page.keyboard.press(key);
    await undoButton(page).waitFor();
    await waitUntil(async () => (await titles(page, 'Ready')).includes('Beta'));
  }

  journey('takes a move back by the button and by keys, and leaves the change of someone else', async () => {
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    await moveBeta(page);
    await notice(page).getByText('WEB-2 is now in Ready').waitFor();
    await undoButton(page).click();
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    await notice(page).getByText('WEB-2: change undone').waitFor();
    await moveBeta(page);
    await page.keyboard.press('Control+z');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    await moveBeta(page);
    await house.client(people.ben.me.token).stories.update({ storyId: 'WEB-2', title: 'Better' });
    await page.getByRole('link', { name: 'Better' }).waitFor();
    await page.keyboard.press('Control+z');
    await notice(page).getByText('Someone else has changed it since. Nothing was undone.').waitFor();
    expect((await ana().stories.get({ storyId: 'WEB-2' })).story).toMatchObject({
      ...{ title: 'Better', status: 'ready' },
    });
  });

  journey('takes back an assignment, a status and a change of group', async () => {
    const story = async () => (await ana().stories.search({ query: 'Alpha' })).items[0];
    const page = await open(people.ana.me.token, '/stories?group=none');
    const row = page.locator('.story-row', { hasText: 'Alpha' });
    const choose = async (key: string, name: string, set: string): Promise<void> => {
      await row.getByRole('link').focus();
      await page.keyboard.press(key);
      await page.getByRole('menu').getByText(name, { exact: true }).click();
      await notice(page).getByText(set).waitFor();
    };
    await choose('a', 'Ben', 'WEB-1: Ben');
    await undoButton(page).click();
    await notice(page).getByText('WEB-1: change undone').waitFor();
    expect((await story())?.assignees.member).toBeNull();
    await choose('s', 'In progress', 'WEB-1: In progress');
    await page.keyboard.press('Control+z');
    await waitUntil(async () => (await story())?.status === 'backlog');
    await choose('a', 'Ben', 'WEB-1: Ben');
    const { memberId } = people.chloe.me;
    await ana().assignments.set({ targetType: 'story', targetId: 'WEB-1', memberId });
    await row.getByText('Chloé').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await notice(page).getByText('Someone else has changed it since. Nothing was undone.').waitFor();
    expect((await story())?.assignees.member?.name).toBe('Chloé');
    await house.go(page, '/p/WEB?layout=board&group=priority');
    await ana().stories.update({ storyId: 'WEB-4', priority: 'high' });
    const column = page.getByRole('region', { name: 'High', exact: true });
    await column.getByText('Delta').waitFor();
    const over = await pickUp(
      page,
      page.getByRole('link', { name: 'Gamma' }),
      column.locator('.column-scroll'),
    );
    await dragUntil(page, { x: over.x + 60, y: over.y + 300 }, column.locator('.drop-line'));
    await page.mouse.up();
    await notice(page).getByText('WEB-3: High').waitFor();
    await page.keyboard.press('Control+z');
    await waitUntil(async () => (await ana().stories.get({ storyId: 'WEB-3' })).story.priority === 'none');
  });

  journey('takes an edit back, and a deletion with all that belongs to the story', async () => {
    await ana().comments.create({ storyId: 'WEB-1', body: 'Keep me' });
    const page = await open(people.ana.me.token, '/s/WEB-1');
    await page.getByRole('button', { name: 'Edit title' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Omega');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Omega', level: 1 }).waitFor();
    await undoButton(page).waitFor();
    // In the text field, the keys would undo typing.
    await page.getByRole('button', { name: 'Edit title' }).waitFor();
    await page.keyboard.press('Control+z');
    await page.getByRole('heading', { name: 'Alpha', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete story' }).click();
    await shows(page, 'Backlog', ['Beta', 'Gamma']);
    await notice(page).getByText('WEB-1 was deleted').waitFor();
    await expect(ana().stories.get({ storyId: 'WEB-1' })).rejects.toMatchObject({ status: 404 });
    await undoButton(page).click();
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    await page.getByRole('link', { name: 'Alpha' }).click();
    await page.getByText('Keep me').waitFor();
  });

  journey('lists deleted stories in the settings of the project, for leads', async () => {
    await ana().stories.delete({ storyId: 'WEB-3' });
    const page = await open(people.ana.me.token, '/p/WEB/settings/deleted');
    const list = page.getByRole('region', { name: 'Deleted stories' });
    await list.getByText('Gamma').first().waitFor();
    await list.getByRole('button', { name: 'Restore WEB-3' }).click();
    await list.getByText('No deleted stories').waitFor();
    expect((await ana().stories.get({ storyId: 'WEB-3' })).story.title).toBe('Gamma');
    await ana().stories.delete({ storyId: 'WEB-2' });
    await list.getByText('Beta').first().waitFor();
  });

  journey('keeps a review request unread while an imported verdict awaits a new one', async () => {
    const { memberId } = people.ben.me;
    await ana().storySpec.update({ storyId: 'WEB-1', content: 'Guests pay by card.\n' });
    await ana().reviewers.add({ storyId: 'WEB-1', memberId });
    await house.world.rows(
      `update story_reviewers
       set verdict = 'approved', decided_at = now(), spec_version = 1, code_seq = 0, imported_from = 'linear',
         imported_by = '{"kind": "member", "name": "Ana"}'
       where org_id = $1`,
      people.orgId,
    );
    await ana().assignments.set({ targetType: 'story', targetId: 'WEB-1', memberId });
    const ben = house.client(people.ben.me.token);
    await open(people.ben.me.token, '/s/WEB-1');
    await waitUntil(async () => (await ben.notifications.unreadCount()).unread < 2);
    const { items } = await ben.notifications.list({ unreadOnly: true });
    expect(items.map(({ kind }) => kind)).toEqual(['review_requested']);
  });

  journey('subscribes to a story and bundles what comes in, until it is snoozed', async () => {
    const ben = house.client(people.ben.me.token);
    const page = await open(people.ana.me.token, '/s/WEB-1');
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await page.getByRole('button', { name: 'Unsubscribe', exact: true }).waitFor();
    await house.go(page, '/inbox');
    await page.getByRole('heading', { name: 'Your inbox is empty' }).waitFor();
    await ben.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' });
    await ben.comments.create({ storyId: 'WEB-1', body: 'Hello' });
    const known = page.getByRole('region', { name: 'For your information' });
    await known.getByText('2 notifications').waitFor();
    expect(await known.locator('.row').count()).toBe(1);
    await known.getByRole('button', { name: 'Show all Alpha' }).click();
    await known.getByRole('link', { name: 'Ben moved WEB-1 to Ready' }).waitFor();
    await known.getByRole('button', { name: 'Show less Alpha' }).click();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await page.getByRole('menuitem', { name: 'Tomorrow' }).click();
    await known.waitFor({ state: 'detached' });
    const snoozed = page.getByRole('region', { name: 'Snoozed' });
    await waitUntil(async () => (await snoozed.locator('.row').count()) === 2);
    expect((await ana().notifications.unreadCount()).unread).toBe(0);
    await snoozed.getByRole('button', { name: 'Bring back Ben commented on WEB-1' }).click();
    await known.getByRole('link', { name: 'Ben commented on WEB-1' }).waitFor();
    expect((await ana().notifications.unreadCount()).unread).toBe(1);
  });
}
