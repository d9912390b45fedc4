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

  journey('takes back what was done to several stories, in their former order', async () => {
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    const bar = page.getByRole('toolbar', { name: 'All selected stories' });
    const selectAll = async (): Promise<void> => {
      for (const title of ['Alpha', 'Beta', 'Gamma']) {
        await page.getByRole('link', { name: title }).focus();
        await page.keyboard.press('x');
      }
      await bar.getByText('3 selected').waitFor();
    };
    const story = async (storyId: string) => (await ana().stories.get({ storyId })).story;
    await ana().stories.update({ storyId: 'WEB-2', priority: 'low', labels: ['kept'] });
    await selectAll();
    await bar.getByRole('combobox', { name: 'Move to…' }).selectOption({ label: 'Ready' });
    await shows(page, 'Ready', ['Delta', 'Alpha', 'Beta', 'Gamma']);
    await notice(page).getByText('3 stories were changed').waitFor();
    await page.keyboard.press('Control+z');
    await notice(page).getByText('3 stories: change undone').waitFor();
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    const { items } = await ana().stories.list({ projectId: 'WEB', status: 'backlog' });
    expect(
      items.toSorted((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ title }) => title),
    ).toEqual(['Alpha', 'Beta', 'Gamma']);
    await selectAll();
    await bar.getByRole('combobox', { name: 'Priority…' }).selectOption({ label: 'High' });
    await notice(page).getByText('3 stories were changed').waitFor();
    const ben = house.client(people.ben.me.token);
    await ben.stories.update({ storyId: 'WEB-1', priority: 'urgent' });
    await undoButton(page).click();
    await notice(page).getByText('Someone else has changed 1 story since.').waitFor();
    const priorities = ['WEB-1', 'WEB-2', 'WEB-3'].map(async (key) => (await story(key)).priority);
    expect(await Promise.all(priorities)).toEqual(['urgent', 'low', 'none']);
    await ana().stories.update({ storyId: 'WEB-4', labels: ['kept'] });
    await page.getByRole('link', { name: 'Delta' }).getByText('kept').waitFor();
    await selectAll();
    await bar.getByRole('combobox', { name: 'Add label…' }).selectOption('kept');
    await notice(page).getByText('2 stories were changed').waitFor();
    await undoButton(page).click();
    await notice(page).getByText('2 stories: change undone').waitFor();
    const labels = ['WEB-1', 'WEB-2', 'WEB-3'].map(async (key) => (await story(key)).labels);
    expect(await Promise.all(labels)).toEqual([[], ['kept'], []]);
    await selectAll();
    await bar.getByRole('button', { name: 'Delete', exact: true }).click();
    await notice(page).getByText('3 stories were deleted').waitFor();
    await shows(page, 'Backlog', []);
    await page.keyboard.press('Control+z');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    // Only leads may delete.
    const other = await open(people.chloe.me.token, '/p/WEB');
    await other.getByRole('link', { name: 'Alpha' }).focus();
    await other.keyboard.press('x');
    await other.getByRole('toolbar').getByText('1 selected').waitFor();
    expect(await other.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
  });

  journey('undoes the rest of a change when a story refuses it, and says why', async () => {
    const page = await open(people.ana.me.token, '/p/WEB');
    await shows(page, 'Backlog', ['Alpha', 'Beta', 'Gamma']);
    const bar = page.getByRole('toolbar', { name: 'All selected stories' });
    const select = async (titlesToSelect: readonly string[]): Promise<void> => {
      for (const title of titlesToSelect) {
        await page.getByRole('link', { name: title }).focus();
        await page.keyboard.press('x');
      }
      await bar.getByText(`${titlesToSelect.length} selected`).waitFor();
    };
    const ben = house.client(people.ben.me.token);
    await select(['Alpha', 'Beta', 'Gamma']);
    await bar.getByRole('combobox', { name: 'Move to…' }).selectOption({ label: 'Ready' });
    await notice(page).getByText('3 stories were changed').waitFor();
    await ben.stories.delete({ storyId: 'WEB-3' });
    await shows(page, 'Ready', ['Delta', 'Alpha', 'Beta']);
    await undoButton(page).click();
    await notice(page).getByText('Could not restore 1 story (WEB-3): ').waitFor();
    await shows(page, 'Backlog', ['Alpha', 'Beta']);
    await select(['Alpha', 'Beta']);
    await bar.getByRole('combobox', { name: 'Priority…' }).selectOption({ label: 'High' });
    await notice(page).getByText('2 stories were changed').waitFor();
    await ben.stories.delete({ storyId: 'WEB-1' });
    await shows(page, 'Backlog', ['Beta']);
    await undoButton(page).click();
    await notice(page).getByText('Could not restore 1 story (WEB-1): ').waitFor();
    expect((await ana().stories.get({ storyId: 'WEB-2' })).story.priority).toBe('none');
  });

  journey('brings a deleted comment back for a few seconds, and deletes it then', async () => {
    const { comment } = await ana().comments.create({ storyId: 'WEB-1', body: 'Not for everyone' });
    const bodyNow = async () => (await ana().comments.list({ storyId: 'WEB-1' })).items[0]?.body;
    const page = await open(people.ana.me.token, '/s/WEB-1');
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for the comment by Ana' }).click();
      await page.getByRole('menuitem', { name: 'Delete comment' }).click();
      await notice(page).getByText('Comment deleted').waitFor();
      await page.getByText('Not for everyone').waitFor({ state: 'detached' });
    };
    await remove();
    await page.keyboard.press('Control+z');
    await page.getByText('Not for everyone').waitFor();
    await remove();
    await house.go(page, '/p/WEB');
    await undoButton(page).click();
    await house.go(page, '/s/WEB-1');
    await page.getByText('Not for everyone').waitFor();
    await remove();
    expect(await bodyNow()).toBe('Not for everyone');
    await house.go(page, '/p/WEB');
    await waitUntil(async () => (await bodyNow()) !== 'Not for everyone');
    await expect(ana().comments.delete({ commentId: comment.id })).rejects.toMatchObject({ status: 404 });
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
