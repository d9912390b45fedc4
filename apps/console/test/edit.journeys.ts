/** Tests editing stories and epics in place, without overwriting concurrent changes. */
import { beforeEach, expect } from '@jest/globals';
import { type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { intercept, journey, textIn } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function editJourneys(house: House): void {
  let people: People;
  const windows = useWindows(house);
  const { open } = windows;
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: [], in_progress: [] });
  });
  const storyId = 'WEB-1';
  const storyNow = async () => (await house.client(people.ben.me.token).stories.get({ storyId })).story;
  /** Waits until the story has these values on the server. */
  const becomes = (wanted: object): Promise<void> =>
    waitUntil(async () => {
      const story = await storyNow();
      return Object.entries(wanted).every(
        ([field, value]) => JSON.stringify(story[field as keyof typeof story]) === JSON.stringify(value),
      );
    });
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  /** Opens a window without the event stream, whose page is therefore outdated. */
  async function openDeaf(address: string): Promise<Page> {
    const { page } = windows.keep(await house.visit(address));
    await intercept(page, '**/api/events/stream*', (route) => route.abort());
    await page.getByLabel('Token').fill(people.chloe.me.token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Alpha', level: 1 }).waitFor();
    return page;
  }

  journey('changes by the mouse what a story says, and another sees it', async () => {
    await house.client(people.ana.me.token).epics.create({ projectId: 'WEB', title: 'Sign up' });
    const { epics } = house.client(people.ana.me.token);
    const [epic] = (await epics.list({ projectId: 'WEB' })).items;
    const [page, other] = [
      await open(people.chloe.me.token, `/s/${storyId}`),
      await open(people.ben.me.token, `/s/${storyId}`),
    ];
    await page.getByRole('button', { name: 'Edit title' }).click();
    await field(page, 'Title').fill('Guests pay');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.getByRole('heading', { name: 'Guests pay', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Add a description' }).click();
    await field(page, 'Description').fill('# Why\n\nThey *leave* now.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.locator('.prose em', { hasText: 'leave' }).waitFor();
    await field(page, 'Epic').selectOption({ label: 'Sign up' });
    await field(page, 'Priority').selectOption({ label: 'High' });
    await field(page, 'Estimate').fill('2.5');
    await field(page, 'Add label').fill('checkout');
    await field(page, 'Add label').press('Enter');
    await field(page, 'Add label').fill('bug');
    await field(page, 'Add label').press('Enter');
    await page.getByRole('button', { name: 'Remove label checkout' }).click();
    await becomes({
      ...{ title: 'Guests pay', description: '# Why\n\nThey *leave* now.', epicId: epic?.id },
      ...{ priority: 'high', estimate: 2.5, labels: ['bug'] },
    });
    expect(await page.getByRole('alert').count()).toBe(0);
    // The page has exactly one main heading, also if its text is written from right to left.
    expect(await other.locator('h1').allTextContents()).toEqual(['Guests pay']);
  });

  journey('changes them by keys alone, and has the focus where it was', async () => {
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    // The button appears once the page has loaded the member's permissions.
    await page.getByRole('button', { name: 'Edit title' }).waitFor();
    await page.keyboard.press('e');
    await field(page, 'Title').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Nothing of it');
    await page.keyboard.press('Escape');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Keep editing' })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await field(page, 'Title').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Alpha', level: 1 }).waitFor();
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Edit title' }))
      .waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('Guests pay');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Guests pay', level: 1 }).waitFor();
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Edit title' }))
      .waitFor();
    await page.keyboard.press('Tab');
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Add a description' }))
      .waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('They leave now.');
    await page.keyboard.press('Control+Enter');
    await page.locator('.prose', { hasText: 'They leave now.' }).waitFor();
    await field(page, 'Estimate').focus();
    await page.keyboard.type('8');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.locator(':focus').and(field(page, 'Add label')).waitFor();
    await page.keyboard.type('bug,');
    await becomes({ title: 'Guests pay', description: 'They leave now.', estimate: 8, labels: ['bug'] });
  });

  journey('shows a title that another wrote beside mine, and loses neither', async () => {
    const page = await openDeaf(`/s/${storyId}`);
    await page.getByRole('button', { name: 'Edit title' }).click();
    await field(page, 'Title').fill('Mine');
    const ben = house.client(people.ben.me.token);
    await ben.stories.update({ storyId, title: 'Theirs', estimate: 5 });
    await page.keyboard.press('Enter');
    const met = page.getByRole('alert').filter({ hasText: 'Title: someone else just changed this' });
    await met.getByText('Theirs', { exact: true }).nth(1).waitFor();
    expect(await field(page, 'Title').inputValue()).toBe('Mine');
    expect((await storyNow()).title).toBe('Theirs');
    await met.getByRole('button', { name: 'Save mine' }).click();
    await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
    await becomes({ title: 'Mine', estimate: 5 });
    // Creates a second conflict, in which the reader drops their own change.
    const [read] = await Promise.all([
      // Waits for the response with the new priority, because responses to earlier requests may still arrive.
      page.waitForResponse(
        async (answer) =>
          answer.url().endsWith('/api/storyCollaboration/context') &&
          (await answer.text()).includes('"priority":"low"'),
      ),
      field(page, 'Priority').selectOption({ label: 'Low' }),
    ]);
    await read.finished();
    await becomes({ priority: 'low' });
    await ben.stories.update({ storyId, priority: 'urgent' });
    await field(page, 'Priority').selectOption({ label: 'Medium' });
    const about = page.getByRole('alert').filter({ hasText: 'Priority: someone else just changed this' });
    await about.getByText('Urgent').waitFor();
    await about.getByText('Medium').waitFor();
    await about.getByRole('button', { name: 'Keep theirs' }).click();
    await about.waitFor({ state: 'detached' });
    // Waits, because the page may still be fetching the other person's change.
    await waitUntil(async () => (await field(page, 'Priority').inputValue()) === 'urgent');
    expect((await storyNow()).priority).toBe('urgent');
  });

  journey('shows a description that another wrote word by word beside mine', async () => {
    const ben = house.client(people.ben.me.token);
    await ben.stories.update({ storyId, description: 'Guests pay by card.' });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: 'Edit description' }).click();
    await field(page, 'Description').fill('Guests pay by card, at once.');
    await ben.stories.update({ storyId, description: 'Guests pay by invoice.' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').locator('ins', { hasText: 'invoice' }).waitFor();
    await page.getByRole('alert').locator('ins', { hasText: 'at once' }).waitFor();
    expect((await storyNow()).description).toBe('Guests pay by invoice.');
    // A draft is restored when its author returns.
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave page' }).click();
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    await page.goBack();
    expect(await textIn(field(page, 'Description'))).toBe('Guests pay by card, at once.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await becomes({ description: 'Guests pay by card, at once.' });
  });

  journey('has room for what another changed beside it', async () => {
    const page = await openDeaf(`/s/${storyId}`);
    await house.client(people.ben.me.token).stories.update({ storyId, priority: 'urgent', labels: ['bug'] });
    await field(page, 'Estimate').fill('3');
    await field(page, 'Estimate').press('Enter');
    await becomes({ estimate: 3, priority: 'urgent', labels: ['bug'] });
    await page.getByRole('button', { name: 'Remove label bug' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  journey('says what a story waits for, and who can lift what blocks it', async () => {
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await field(page, 'Add a blocking story').fill('web-2');
    await page.keyboard.press('Enter');
    await page.getByText('Blocked by other stories').waitFor();
    await page.getByRole('button', { name: 'Remove blocker WEB-2' }).waitFor();
    // A cycle is refused with a message.
    const other = await open(people.ben.me.token, '/s/WEB-2');
    await field(other, 'Add a blocking story').fill('WEB-1');
    await other.keyboard.press('Enter');
    await other.locator('.notice', { hasText: 'WEB-2 could not be changed' }).waitFor();
    await page.getByRole('button', { name: 'Remove blocker WEB-2' }).click();
    await page.getByRole('heading', { name: 'Not ready to start' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Mark as blocked' }).click();
    await field(page, 'Reason').selectOption({ label: 'Missing answer' });
    await field(page, 'What needs to happen').fill('Legal says yes');
    await field(page, 'Who can unblock it').selectOption({ label: 'Ben' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Ben can unblock it').waitFor();
    await page.getByText('Marked as blocked').waitFor();
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('heading', { name: 'Not ready to start' }).waitFor({ state: 'detached' });
    await becomes({ blocked: null, blockedBy: [] });
  });

  journey('sets the parent, the due date and the files of a story, and the parent lists it', async () => {
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    const parentPage = await open(people.ben.me.token, '/s/WEB-2');
    await field(page, 'Set parent').fill('web-2');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove parent WEB-2' }).waitFor();
    await field(page, 'Due date').fill('2099-05-01');
    await field(page, 'Files').fill('./src/pay/\n**/*.sql\n');
    await field(page, 'Add a blocking story').focus();
    const { id: parentId } = (await house.client(people.ben.me.token).stories.get({ storyId: 'WEB-2' }))
      .story;
    await becomes({ parentId, dueDate: '2099-05-01', touches: ['src/pay', '**/*.sql'] });
    await parentPage.getByRole('heading', { name: 'Children (0 of 1 done)' }).waitFor();
    await house.client(people.ben.me.token).stories.updateStatus({ storyId, status: 'done' });
    await parentPage.getByRole('heading', { name: 'Children (1 of 1 done)' }).waitFor();
    await page.getByRole('button', { name: 'Remove parent WEB-2' }).click();
    await field(page, 'Set parent').waitFor();
    await becomes({ parentId: null });
  });

  journey(
    'adds the files that a similar story changed, and shows changed files outside of them',
    async () => {
      const { stories, deliveryExecutions } = house.client(people.ben.me.token);
      const change = async (key: string, file: string) => {
        const { execution, leaseToken } = await deliveryExecutions.acquire({
          ...{ targetType: 'story', targetId: key },
        });
        const held = { executionId: execution.id, leaseToken };
        await deliveryExecutions.checkpoint({ ...held, summary: 'Half', filesTouched: [file] });
        return held;
      };
      for (const key of ['WEB-1', 'WEB-2']) await stories.update({ storyId: key, labels: ['pay'] });
      await deliveryExecutions.complete({ ...(await change('WEB-2', 'src/pay.ts')), outcome: 'succeeded' });
      await stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
      const page = await open(people.chloe.me.token, `/s/${storyId}`);
      await page.getByText('Changed by similar stories').waitFor();
      await page.getByRole('button', { name: 'Add these files' }).click();
      await becomes({ touches: ['src/pay.ts'] });
      await page.getByText('Changed by similar stories').waitFor({ state: 'detached' });
      await change(storyId, 'docs/pay.md');
      await page.getByText('Changed outside of these files').waitFor();
      await page.getByText('docs/pay.md').waitFor();
    },
  );

  journey('shows what another says that blocks it beside mine, in place of the form', async () => {
    const page = await openDeaf(`/s/${storyId}`);
    await page.getByRole('button', { name: 'Mark as blocked' }).click();
    await field(page, 'What needs to happen').fill('Legal says yes');
    await field(page, 'Who can unblock it').selectOption({ label: 'Ben' });
    const theirs = {
      kind: 'dependency' as const,
      note: 'The bank answers',
      unblockerMemberId: people.ben.me.memberId,
    };
    await house.client(people.ben.me.token).stories.update({ storyId, blocked: theirs });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const met = page.getByRole('alert').filter({ hasText: 'someone else just changed this' });
    await met.getByText(/The bank answers/).waitFor();
    await met.getByText(/Legal says yes/).waitFor();
    expect(await field(page, 'What needs to happen').count()).toBe(0);
    await met.getByRole('button', { name: 'Save mine' }).click();
    await page.getByText('Ben can unblock it').waitFor();
    await waitUntil(async () => (await storyNow()).blocked?.note === 'Legal says yes');
  });

  journey('changes an epic, shows what another wrote of it meanwhile, and deletes it', async () => {
    const ana = house.client(people.ana.me.token);
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'Sign up' });
    const page = await open(people.ana.me.token, '/p/WEB/epics');
    await page.getByRole('button', { name: 'Edit Sign up' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.type(' and in');
    await page.getByLabel('Description').fill('One account for all.');
    await page.locator('.form').getByLabel('Target date').fill('2027-03-31');
    await page.keyboard.press('Enter');
    await page.getByText('One account for all.').waitFor();
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Edit Sign up and in' }))
      .waitFor();
    const epicNow = async () =>
      (await ana.epics.list({ projectId: 'WEB' })).items.find(({ id }) => id === epic.id);
    expect(await epicNow()).toMatchObject({
      ...{ title: 'Sign up and in', description: 'One account for all.', targetDate: '2027-03-31' },
    });
    await page.getByRole('button', { name: 'Edit Sign up and in' }).click();
    const form = page.locator('.row-form');
    await form.getByLabel('Title').fill('Mine');
    await form.getByLabel('Description').fill('As I see it.');
    await ana.epics.update({ epicId: epic.id, title: 'Theirs', status: 'done' });
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    const met = page.getByRole('alert').filter({ hasText: 'Title: someone else just changed this' });
    await met.getByText('Theirs', { exact: true }).nth(1).waitFor();
    expect(await form.getByLabel('Title').inputValue()).toBe('Mine');
    expect(await epicNow()).toMatchObject({ title: 'Theirs', description: 'One account for all.' });
    await met.getByRole('button', { name: 'Keep theirs' }).click();
    expect(await form.getByLabel('Title').inputValue()).toBe('Theirs');
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    expect(await epicNow()).toMatchObject({
      ...{ title: 'Theirs', description: 'As I see it.', status: 'done' },
    });
    const reader = await open(people.dan.me.token, '/p/WEB/epics');
    await reader.getByText('As I see it.').waitFor();
    expect(await reader.locator('main').getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete Theirs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await reader.getByRole('heading', { name: 'No epics yet' }).waitFor();
  });

  journey('offers no change of it to readers, and keeps what was typed where it is refused', async () => {
    const reader = await open(people.dan.me.token, `/s/${storyId}`);
    await reader.getByRole('heading', { name: 'Alpha' }).waitFor();
    await reader.getByText('Details').waitFor();
    await reader.keyboard.press('e');
    const offered = ['Edit title', 'Add a description', 'Mark as blocked'];
    for (const name of offered) expect(await reader.getByRole('button', { name }).count()).toBe(0);
    for (const name of ['Title', 'Epic', 'Priority', 'Estimate', 'Add label', 'Status'])
      expect([name, await field(reader, name).count()]).toEqual([name, 0]);
    const page = await openDeaf(`/s/${storyId}`);
    await page.getByRole('button', { name: 'Edit title' }).click();
    await field(page, 'Title').fill('Too late');
    await house.client(people.ana.me.token).projects.update({ projectId: 'WEB', archived: true });
    await page.keyboard.press('Enter');
    await page.locator('.notice', { hasText: 'WEB-1 could not be changed' }).waitFor();
    expect(await field(page, 'Title').inputValue()).toBe('Too late');
    expect((await storyNow()).title).toBe('Alpha');
  });
}
