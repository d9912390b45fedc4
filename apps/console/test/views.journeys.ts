/** Tests lists, tables and boards by any field, over one project and over all of them. */
import { isDeepStrictEqual } from 'node:util';
import { beforeEach, expect } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { dragUntil, journey, pickUp } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

const demo = { backlog: ['Alpha', 'Beta'], ready: ['Gamma'], in_progress: ['Delta'] };

const row = (page: Page, title: string): Locator => page.locator('.story-row', { hasText: title });
/** Waits until the list shows these headings and titles, from top to bottom. */
const shows = (page: Page, wanted: readonly string[]): Promise<void> =>
  waitUntil(async () =>
    isDeepStrictEqual(
      await page.locator('.story-scroll :is(h2 .cut, .story-name)').allTextContents(),
      wanted,
    ),
  );
const display = (page: Page): Locator => page.getByRole('dialog', { name: 'Display options' });

/** The journey of the first tier. */
export function firstViewJourneys(house: House): void {
  const { open } = useWindows(house);
  journey('shows a board as a list in groups, which a link repeats, and changes stories in it', async () => {
    const people = await house.world.org();
    await arrange(house, people, demo);
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.getByRole('button', { name: 'Display' }).click();
    await display(page).getByRole('button', { name: 'List' }).click();
    await shows(page, ['Backlog', 'Alpha', 'Beta', 'Ready', 'Gamma', 'In progress', 'Delta']);
    await display(page).getByLabel('Group by').selectOption('Assignee');
    await page.keyboard.press('Escape');
    await shows(page, ['Unassigned', 'Alpha', 'Beta', 'Gamma', 'Delta']);
    expect(new URL(page.url()).search).toBe('?layout=list&group=assignee');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await page.getByRole('menu').getByText('Ben').click();
    await shows(page, ['Ben', 'Beta', 'Unassigned', 'Alpha', 'Gamma', 'Delta']);
    await page.locator('[data-card]:focus', { hasText: 'Beta' }).waitFor();
    const other = await open(people.ben.me.token, '/p/WEB?layout=list&group=assignee');
    await shows(other, ['Ben', 'Beta', 'Unassigned', 'Alpha', 'Gamma', 'Delta']);
    await house.client(people.ana.me.token).stories.update({ storyId: 'WEB-1', title: 'Omega' });
    for (const each of [page, other])
      await shows(each, ['Ben', 'Beta', 'Unassigned', 'Omega', 'Gamma', 'Delta']);
  });
}

export function viewsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, demo);
  });
  const ana = () => house.client(people.ana.me.token);

  journey('orders a table by its columns, changes a cell, and chooses what it shows', async () => {
    await ana().stories.update({ storyId: 'WEB-3', priority: 'high', dueDate: '2099-01-02' });
    const page = await open(people.ana.me.token, '/p/WEB?layout=table');
    await shows(page, ['Alpha', 'Beta', 'Gamma', 'Delta']);
    await page.getByRole('columnheader', { name: 'Due date' }).getByRole('button').click();
    await shows(page, ['Gamma', 'Alpha', 'Beta', 'Delta']);
    expect(await page.getByRole('columnheader', { name: 'Due date' }).getAttribute('aria-sort')).toBe(
      'ascending',
    );
    await row(page, 'Beta').getByRole('cell').nth(2).getByRole('button').click();
    await page.getByRole('menu', { name: 'Priority of WEB-2' }).getByText('Urgent').click();
    await row(page, 'Beta').getByText('Urgent').waitFor();
    await page.getByRole('button', { name: 'Display' }).click();
    await display(page).getByRole('button', { name: 'Estimate' }).click();
    await page.getByRole('columnheader', { name: 'Estimate' }).waitFor();
    await display(page).getByRole('button', { name: 'Compact' }).click();
    await page.locator('[data-density="compact"]').waitFor();
    expect((await ana().stories.get({ storyId: 'WEB-2' })).story.priority).toBe('urgent');
  });

  journey('adds up the estimates of each column and group that has any', async () => {
    await ana().stories.update({ storyId: 'WEB-1', estimate: 3 });
    const page = await open(people.ana.me.token, '/p/WEB');
    const backlog = page.getByRole('region', { name: 'Backlog', exact: true }).locator('.column-head');
    await backlog.getByText('3 pt', { exact: true }).waitFor();
    await ana().stories.update({ storyId: 'WEB-2', estimate: 0.5 });
    await backlog.getByText('3.5 pt', { exact: true }).waitFor();
    expect(await page.locator('.column-head .estimate-sum').count()).toBe(1);
    for (const search of ['layout=list', 'layout=table&group=status']) {
      await house.go(page, `/p/WEB?${search}`);
      await page.getByRole('button', { name: /^Backlog 2 Estimates add up to 3\.5/ }).waitFor();
      expect(await page.locator('.story-group .estimate-sum').count()).toBe(1);
    }
  });

  journey('folds groups, selects a range, and offers a menu by right click', async () => {
    const page = await open(people.ana.me.token, '/p/WEB?layout=list');
    await page.getByRole('button', { name: 'Backlog 2' }).click();
    await shows(page, ['Backlog', 'Ready', 'Gamma', 'In progress', 'Delta']);
    await page.getByRole('button', { name: 'Backlog 2' }).click();
    await page.getByRole('checkbox', { name: 'Select WEB-1' }).click();
    await page.getByRole('checkbox', { name: 'Select WEB-3' }).click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').first().waitFor();
    await row(page, 'Delta').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Priority…' }).click();
    await page.getByRole('menu', { name: 'Priority of WEB-4' }).getByText('Low').click();
    await row(page, 'Delta').getByText('Low').waitFor({ state: 'attached' });
    await page.locator('[data-card]:focus', { hasText: 'Delta' }).waitFor();
  });

  journey('gives a card that is dragged to another group the value of that group', async () => {
    await ana().assignments.set({
      ...{ targetType: 'story', targetId: 'WEB-1', memberId: people.ben.me.memberId },
    });
    const page = await open(people.ana.me.token, '/p/WEB?layout=board&group=assignee');
    const column = page.getByRole('region', { name: 'Ben', exact: true });
    await column.getByText('Alpha').waitFor();
    const over = await pickUp(
      page,
      page.getByRole('link', { name: 'Gamma' }),
      column.locator('.column-scroll'),
    );
    await dragUntil(page, { x: over.x + 60, y: over.y + 300 }, column.locator('.drop-line'));
    await page.mouse.up();
    await column.getByText('Gamma').waitFor();
    const { items } = await ana().stories.search({ assigneeId: 'ben' });
    expect(items.map(({ key }) => key).toSorted()).toEqual(['WEB-1', 'WEB-3']);
  });

  journey('shows stories of all projects as they come and go', async () => {
    await ana().projects.create({ key: 'APP', name: 'Mobile app' });
    await ana().stories.create({ projectId: 'APP', title: 'Epsilon', status: 'ready' });
    const page = await open(people.ben.me.token, '/stories?group=project');
    await shows(page, ['Mobile app', 'Epsilon', 'Web shop', 'Delta', 'Gamma', 'Beta', 'Alpha']);
    await ana().stories.create({ projectId: 'APP', title: 'Zeta' });
    await row(page, 'Zeta').waitFor();
    await page.getByRole('searchbox', { name: 'Filter stories' }).fill('zeta');
    await shows(page, ['Mobile app', 'Zeta']);
    await row(page, 'Zeta').getByRole('link').focus();
    await page.keyboard.press('s');
    await page.getByRole('menu', { name: 'Status of APP-2' }).getByText('In progress').click();
    await waitUntil(
      async () => (await ana().stories.get({ storyId: 'APP-2' })).story.status === 'in_progress',
    );
    const viewer = await open(people.dan.me.token, '/stories');
    await row(viewer, 'Alpha').waitFor();
    expect(await viewer.getByRole('checkbox').count()).toBe(0);
  });

  journey('keeps offering the labels and people that a filter has hidden', async () => {
    await ana().stories.update({ storyId: 'WEB-1', labels: ['bug'] });
    await ana().stories.update({ storyId: 'WEB-2', labels: ['docs'] });
    await ana().assignments.set({
      ...{ targetType: 'story', targetId: 'WEB-2', memberId: people.ben.me.memberId },
    });
    const page = await open(people.ana.me.token, '/stories?group=none');
    await shows(page, ['Beta', 'Alpha', 'Delta', 'Gamma']);
    const filter = (name: string) => page.getByRole('search').getByRole('button', { name });
    await filter('Label').click();
    await menu(page).getByText('bug').click();
    await page.keyboard.press('Escape');
    await page.getByText('1 of 1 stories').waitFor({ state: 'attached' });
    await filter('Assignee').click();
    await menu(page).getByText('Ben').waitFor();
    await page.keyboard.press('Escape');
    await filter('Label').click();
    await menu(page).getByText('docs').click();
    await page.keyboard.press('Escape');
    await shows(page, ['Beta', 'Alpha']);
  });

  journey('keeps the list while a filter is typed, and searches once', async () => {
    const page = await open(people.ana.me.token, '/stories?group=none');
    await shows(page, ['Delta', 'Gamma', 'Beta', 'Alpha']);
    const searches: unknown[] = [];
    page.on('request', (request) => {
      if (!request.url().endsWith('/stories/search')) return;
      searches.push((request.postDataJSON() as { query?: string }).query);
    });
    const box = page.getByRole('searchbox', { name: 'Filter stories' });
    await box.pressSequentially('alpha');
    expect(await page.getByText('Loading stories').count()).toBe(0);
    await waitUntil(async () => searches.length > 0);
    await shows(page, ['Alpha']);
    expect(searches).toEqual(['alpha']);
    expect(await box.inputValue()).toBe('alpha');
    await page.locator('input[type=search]:focus').waitFor();
  });

  journey('names the columns of groups by any label', async () => {
    await ana().stories.update({ storyId: 'WEB-1', labels: ['none'] });
    await ana().stories.update({ storyId: 'WEB-2', labels: ['needs review'] });
    const page = await open(people.ana.me.token, '/p/WEB?layout=board&group=label');
    const titlesIn = (name: string) =>
      page.getByRole('region', { name, exact: true }).locator('.card-title').allTextContents();
    await page.getByRole('link', { name: 'Gamma' }).waitFor();
    expect(await titlesIn('none')).toEqual(['Alpha']);
    expect(await titlesIn('needs review')).toEqual(['Beta']);
    expect(await titlesIn('No label')).toEqual(['Gamma', 'Delta']);
  });

  journey('selects with Shift only stories that one may change', async () => {
    const { project } = await ana().projects.create({
      key: 'APP',
      name: 'Mobile app',
      visibility: 'private',
    });
    await ana().projects.members.add({
      ...{ projectId: project.id, memberId: people.chloe.me.memberId, role: 'viewer' },
    });
    await ana().stories.create({ projectId: 'APP', title: 'Epsilon' });
    await ana().stories.update({ storyId: 'WEB-1', title: 'First' });
    const page = await open(people.chloe.me.token, '/stories?group=none');
    await shows(page, ['First', 'Epsilon', 'Delta', 'Gamma', 'Beta']);
    await page.getByRole('checkbox', { name: 'Select WEB-1' }).click();
    await page.getByRole('checkbox', { name: 'Select WEB-4' }).click({ modifiers: ['Shift'] });
    await page.getByRole('toolbar').getByText('2 selected').waitFor();
  });

  const menu = (page: Page) => page.getByRole('menu');
  const openMenu = (page: Page, name: string | RegExp): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();

  journey('saves a view, opens it by its link and by default, changes and deletes it', async () => {
    await ana().stories.update({ storyId: 'WEB-3', labels: ['bug'] });
    const page = await open(people.chloe.me.token, '/p/WEB?layout=list&group=none&label=bug');
    await shows(page, ['Gamma']);
    await openMenu(page, 'Views');
    await menu(page).getByText('Save as new view…').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Bugs');
    expect(await page.getByRole('checkbox', { name: /Share/ }).count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'View: Bugs' }).waitFor();
    const [view] = (await house.client(people.chloe.me.token).views.list({})).items;
    expect(view).toMatchObject({ name: 'Bugs', layout: 'list', filter: { label: ['bug'] }, groupBy: null });

    await openMenu(page, 'View: Bugs');
    await menu(page).getByText('Open this view by default').click();
    await house.go(page, '/inbox');
    await page.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
    await house.go(page, '/p/WEB');
    await page.getByRole('button', { name: 'View: Bugs' }).waitFor();
    await shows(page, ['Gamma']);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('unsaved changes').waitFor({ state: 'attached' });
    await openMenu(page, 'View: Bugs');
    await menu(page).getByText('Save changes to “Bugs”').click();
    await page.getByText('unsaved changes').waitFor({ state: 'detached' });
    await house.go(page, `/p/WEB?view=${view?.id}`);
    await shows(page, ['Alpha', 'Beta', 'Gamma', 'Delta']);

    await openMenu(page, 'View: Bugs');
    await menu(page).getByText('Delete “Bugs”…').click();
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('region', { name: 'Backlog', exact: true }).waitFor();
    await house.go(page, `/p/WEB?view=${view?.id}`);
    await page.locator('.notice', { hasText: 'This view no longer exists' }).waitFor();
  });

  journey('shares a view of all projects, which others open but do not change', async () => {
    const page = await open(people.ana.me.token, '/stories?layout=table&group=project');
    await row(page, 'Alpha').waitFor();
    await openMenu(page, 'Views');
    await menu(page).getByText('Save as new view…').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Portfolio');
    await page.getByRole('checkbox', { name: 'Share with everyone in the organization' }).check();
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('button', { name: 'View: Portfolio' }).waitFor();
    const other = await open(people.chloe.me.token, '/stories');
    await openMenu(other, 'Views');
    await menu(other).getByText('Portfolio (shared)').click();
    await other.getByRole('table').waitFor();
    await openMenu(other, 'View: Portfolio');
    await menu(other).getByText('Copy link').waitFor();
    expect(await menu(other).getByText('Delete').count()).toBe(0);
    expect(await menu(other).getByText('Save as new view…').count()).toBe(1);
  });

  journey('draws stories from their creation to their due date, by the waves of the work', async () => {
    await ana().stories.update({ storyId: 'WEB-1', dueDate: '2099-01-31' });
    await ana().stories.update({ storyId: 'WEB-3', dueDate: '2020-01-31', blockedBy: ['WEB-1'] });
    await ana().stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
    const page = await open(people.ana.me.token, '/p/WEB?layout=timeline');
    await shows(page, [
      'Wave 1: can start now',
      'Alpha',
      'Delta',
      'Wave 2',
      'Gamma',
      'Not in a wave',
      'Beta',
    ]);
    await page.getByRole('link', { name: /WEB-1 Alpha created .+, Due Jan 31, 2099/ }).waitFor();
    await page.getByRole('link', { name: /WEB-3 Gamma created .+, Overdue since Jan 31, 2020/ }).waitFor();
    const bar = (title: string) => row(page, title).locator('.timeline-bar');
    expect(await bar('Gamma').getAttribute('data-late')).toBe('true');
    expect(await bar('Delta').getAttribute('data-open')).toBe('true');
    await page.keyboard.press('j');
    await page.keyboard.press('End');
    await page.locator('[data-card]:focus', { hasText: 'Beta' }).waitFor();
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Gamma' }).waitFor();
  });

  journey('lists on My work what is assigned to one, late stories first, as it comes and goes', async () => {
    const { memberId } = people.ben.me;
    await ana().stories.update({ storyId: 'WEB-3', dueDate: '2020-01-31' });
    for (const targetId of ['WEB-1', 'WEB-3', 'WEB-4'])
      await ana().assignments.set({ targetType: 'story', targetId, memberId });
    const page = await open(people.ben.me.token, '/');
    const assigned = page.getByRole('region', { name: 'Assigned to you' });
    const texts = (): Promise<string[]> => assigned.locator('h3, .story-name').allTextContents();
    const lists = (wanted: readonly string[]): Promise<void> =>
      waitUntil(async () => isDeepStrictEqual(await texts(), wanted));
    await lists(['Overdue', 'Gamma', 'In progress', 'Delta', 'Up next', 'Alpha']);
    await ana().stories.updateStatus({ storyId: 'WEB-3', status: 'done' });
    await ana().assignments.set({ targetType: 'story', targetId: 'WEB-2', memberId });
    await lists(['In progress', 'Delta', 'Up next', 'Alpha', 'Beta']);
    await assigned.getByRole('link', { name: 'Show all' }).click();
    await shows(page, ['Backlog', 'Beta', 'Alpha', 'In progress', 'Delta', 'Done', 'Gamma']);
  });

  journey('creates a story with its fields on any page, and keeps what was typed', async () => {
    const { epic } = await ana().epics.create({ projectId: 'WEB', title: 'Checkout' });
    const page = await open(people.chloe.me.token, '/inbox');
    // The key works once the projects are known, in which stories can be created.
    await page.getByRole('link', { name: 'Web shop' }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'New story' });
    await dialog.getByLabel('Title').fill('Pay later');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('create st');
    await page.getByRole('option', { name: 'Create story' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Pay later');
    await dialog.getByLabel('Status').selectOption('Ready');
    await dialog.getByLabel('Priority').selectOption('High');
    await dialog.getByLabel('Assignee').selectOption('Ben');
    await dialog.getByLabel('Epic').selectOption('Checkout');
    await dialog.getByLabel('Labels').fill('bug, checkout,');
    await dialog.getByLabel('Due date').fill('2099-01-31');
    await dialog.getByLabel('Estimate').fill('3');
    await dialog.getByRole('button', { name: 'Create story' }).click();
    await page.locator('.notice', { hasText: 'WEB-5 was created' }).waitFor();
    const [card] = (await ana().stories.search({ query: 'Pay later' })).items;
    expect(card).toMatchObject({
      ...{ status: 'ready', priority: 'high', epicId: epic.id, labels: ['bug', 'checkout'] },
      ...{ dueDate: '2099-01-31', estimate: 3, assignees: { member: { name: 'Ben' }, agent: null } },
    });
    const viewer = await open(people.dan.me.token, '/inbox');
    await viewer.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
    await viewer.keyboard.press('c');
    await viewer.keyboard.press('?');
    await viewer.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await viewer.getByRole('dialog', { name: 'New story' }).count()).toBe(0);
  });

  journey('changes every field of the selected stories, of one project and of several', async () => {
    await ana().epics.create({ projectId: 'WEB', title: 'Checkout' });
    await ana().stories.update({ storyId: 'WEB-4', labels: ['bug'] });
    const page = await open(people.ana.me.token, '/p/WEB?layout=table');
    const bar = page.getByRole('toolbar', { name: 'All selected stories' });
    const select = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.getByRole('checkbox', { name: `Select ${key}` }).click();
    };
    const set = async (name: string, label: string): Promise<void> => {
      await select('WEB-1', 'WEB-2');
      await bar.getByRole('combobox', { name }).selectOption({ label });
      await bar.waitFor({ state: 'detached' });
    };
    await set('Assignee…', 'Ben');
    await set('Epic…', 'Checkout');
    await set('Add label…', 'bug');
    await select('WEB-1', 'WEB-2');
    await bar.getByLabel('Due date').fill('2099-01-31');
    await bar.getByRole('button', { name: 'Set due date' }).click();
    await bar.waitFor({ state: 'detached' });
    const cards = async () => (await ana().stories.search({ assigneeId: 'ben' })).items;
    expect((await cards()).map(({ labels, dueDate }) => [labels, dueDate])).toEqual([
      [['bug'], '2099-01-31'],
      [['bug'], '2099-01-31'],
    ]);
    expect((await cards()).every(({ epicId }) => epicId !== null)).toBe(true);
    await ana().projects.create({ key: 'APP', name: 'Mobile app' });
    await ana().stories.create({ projectId: 'APP', title: 'Epsilon' });
    await house.go(page, '/stories');
    await select('WEB-1', 'APP-1');
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('combobox', { name: 'Status…' }).selectOption({ label: 'Done' });
    await bar.waitFor({ state: 'detached' });
    const done = (await ana().stories.search({ status: 'done' })).items.map(({ key }) => key);
    expect(done.toSorted()).toEqual(['APP-1', 'WEB-1']);
  });

  journey('offers the actions of a card by right click and in the command palette', async () => {
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.getByRole('link', { name: 'Gamma' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Move to In progress' }).click();
    const column = page.getByRole('region', { name: 'In progress', exact: true });
    await column.getByText('Gamma').waitFor();
    await page.locator('[data-card]:focus', { hasText: 'Gamma' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('WEB-3: assign');
    await page.getByRole('option', { name: 'WEB-3: Assign…' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('menu', { name: 'Assignee of WEB-3' }).getByText('Ben').click();
    await column.locator('.card', { hasText: 'Gamma' }).getByText('Ben').waitFor({ state: 'attached' });
    await ana().views.create({ name: 'Roadmap', projectId: 'WEB', layout: 'timeline' });
    await house.go(page, '/inbox');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('roadmap');
    await page.getByRole('option', { name: /Open view: Roadmap/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'View: Roadmap' }).waitFor();
  });
}
