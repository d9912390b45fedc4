/** Tests the activity, with filters as links that can be shared. */
import { readFile } from 'node:fs/promises';
import { beforeEach, expect } from '@jest/globals';
import { type Client } from '@muster/client';
import { type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function trailsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: [], in_progress: [] });
    const chloe = house.client(people.chloe.me.token);
    await chloe.comments.create({ storyId: 'WEB-1', body: 'First' });
    await chloe.stories.updateStatus({ storyId: 'WEB-2', status: 'ready' });
  });

  /** Returns all lines once there are `count` of them. */
  async function lines(page: Page, count: number): Promise<string[]> {
    const rows = page.locator('main .row-words');
    await waitUntil(async () => (await rows.count()) === count);
    return rows.allTextContents();
  }
  const addressOf = (page: Page): string => decodeURIComponent(new URL(page.url()).search);

  journey('narrows the activity by who, what and which story, by links of its lines', async () => {
    const page = await open(people.ana.me.token, '/activity');
    await lines(page, 5);
    await page.getByRole('link', { name: 'Chloé', exact: true }).first().click();
    expect(await lines(page, 2)).toEqual([
      expect.stringMatching(/^Chloé moved WEB-2 Beta/),
      expect.stringMatching(/^Chloé commented on WEB-1 Alpha/),
    ]);
    await page.getByRole('link', { name: 'Only WEB-1' }).click();
    await lines(page, 1);
    await page.getByRole('link', { name: 'commented on' }).click();
    await waitUntil(() => addressOf(page).includes('kind=comment.created'));
    expect(addressOf(page)).toBe(`?actor=${people.chloe.me.memberId}&story=WEB-1&kind=comment.created`);
    // Another member who opens this address sees the same filtered activity.
    const theirs = await open(people.ben.me.token, `/activity${new URL(page.url()).search}`);
    expect(await lines(theirs, 1)).toEqual([expect.stringMatching(/^Chloé commented on WEB-1 Alpha/)]);
    expect(await theirs.getByLabel('Actor').locator('option:checked').textContent()).toBe('Chloé');
    expect(await theirs.getByLabel('Action').locator('option:checked').textContent()).toBe(
      'Only “commented on”',
    );
    await theirs.getByRole('link', { name: 'Remove the filter WEB-1' }).click();
    await waitUntil(() => !addressOf(theirs).includes('story'));
    await theirs.getByRole('link', { name: 'Clear filters' }).click();
    await lines(theirs, 5);
    expect(addressOf(theirs)).toBe('');
    // Going back restores the previous filter.
    await page.goBack();
    await waitUntil(() => !addressOf(page).includes('kind'));
  });

  journey('narrows the activity by project, group and time, and says where nothing fits', async () => {
    const ana = house.client(people.ana.me.token);
    await ana.projects.create({ key: 'APP', name: 'App' });
    await house.world.rows(
      `update activity set at = now() - interval '3 days' where org_id = $1 and kind = 'comment.created'`,
      people.orgId,
    );
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.getByRole('button', { name: 'Project menu' }).click();
    await page.getByRole('menuitem', { name: 'Activity' }).click();
    await lines(page, 5);
    expect(addressOf(page)).toBe('?project=WEB');
    await page.getByLabel('Action').selectOption('Comments');
    expect(await lines(page, 1)).toEqual([expect.stringMatching(/commented on/)]);
    await page.getByLabel('Since').selectOption('Past day');
    await page.getByRole('heading', { name: 'No matching activity' }).waitFor();
    expect(addressOf(page)).toBe('?project=WEB&kind=comments&since=day');
    await page.getByLabel('Since').selectOption('Past week');
    await lines(page, 1);
    await page.getByLabel('Project').selectOption('App');
    await page.getByRole('heading', { name: 'No matching activity' }).waitFor();
    await page.locator('.empty').getByRole('link', { name: 'Clear filters' }).click();
    await lines(page, 6);
  });

  journey('leads from a story to all that happened to it', async () => {
    const page = await open(people.ana.me.token, '/s/WEB-1');
    await page.getByRole('link', { name: 'View history' }).click();
    await page.getByRole('link', { name: 'Remove the filter WEB-1' }).waitFor();
    const shown = await lines(page, 2);
    expect(shown.every((line) => line.includes('WEB-1'))).toBe(true);
  });

  journey('lists on the page of a story what happened to it, with one line for each run', async () => {
    const [ana, robo] = [people.ana, people.robo].map(({ me }) => house.client(me.token)) as [Client, Client];
    const target = { targetType: 'story', targetId: 'WEB-1' } as const;
    await ana.stories.update({ storyId: 'WEB-1', priority: 'high', dueDate: '2099-01-31' });
    await ana.storySpec.update({ storyId: 'WEB-1', content: 'Guests pay by card.\n' });
    await ana.assignments.set({ ...target, memberId: people.ben.me.memberId });
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' });
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire(target);
    const held = { executionId: execution.id, leaseToken };
    await robo.deliveryExecutions.checkpoint({ ...held, summary: 'The form is there' });
    for (const progress of [10, 20]) await robo.deliveryExecutions.update({ ...held, progress });
    const page = await open(people.ana.me.token, '/s/WEB-1');
    const activity = page.getByRole('region', { name: 'Activity', exact: true });
    const rows = activity.locator('.row-words');
    const texts = async () => (await rows.allTextContents()).map((text) => text.trim());
    await waitUntil(async () => (await rows.count()) === 6);
    expect(await texts()).toEqual([
      'Robo made progress on this story · started, 1 checkpoint, 1 update',
      'Ana moved this story to Ready',
      'Ana assigned this story to Ben',
      'Ana wrote the spec of this story (version 1)',
      'Ana changed this story (priority, due date)',
      'Ana created this story',
    ]);
    const pullRequest = { number: 1, url: 'https://example.com/pull/1' };
    await robo.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest });
    expect(await activity.getByRole('link', { name: 'Open the run of Robo' }).getAttribute('href')).toContain(
      execution.id,
    );
    await activity.getByText('submitted this story · started, 1 checkpoint, 2 updates').waitFor();
    await ana.reviewers.add({ storyId: 'WEB-1', memberId: people.ana.me.memberId });
    await ana.reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'changes_requested', note: 'Smaller' });
    await activity.getByText('reviewed this story (changes requested)').waitFor();
    await activity.getByText('requested a review of this story (Ana)').waitFor();
    for (const priority of ['low', 'medium', 'high', 'urgent', 'none', 'low', 'medium'] as const) {
      await ana.stories.update({ storyId: 'WEB-1', priority });
      await ana.stories.updateStatus({ storyId: 'WEB-1', status: priority === 'low' ? 'backlog' : 'ready' });
    }
    await activity.getByText('created this story').waitFor({ state: 'detached' });
    await activity.getByRole('button', { name: 'Show older' }).click();
    await activity.getByText('created this story').waitFor();
  });

  journey('names stories and settings in the audit trail', async () => {
    const ana = house.client(people.ana.me.token);
    const { story } = await ana.stories.get({ storyId: 'WEB-1' });
    await ana.stories.update({ storyId: story.id, priority: 'high' });
    const { webhook } = await ana.webhooks.create({
      url: 'https://hooks.acme.example/secret',
      kinds: ['story.deleted'],
    });
    await ana.webhooks.update({ webhookId: webhook.id, kinds: ['story.created'] });
    const page = await open(people.ana.me.token, '/audit');
    await page.getByRole('row', { name: /stories\.update WEB-1 Alpha/ }).waitFor();
    await page.getByRole('row', { name: /webhooks\.update hooks\.acme\.example / }).waitFor();
    expect(await page.getByText('secret').count()).toBe(0);
  });

  journey('narrows the audit trail by who, operation and days', async () => {
    const page = await open(people.ana.me.token, '/audit');
    const rows = page.locator('tbody tr');
    await waitUntil(async () => (await rows.count()) >= 5);
    await page.getByRole('link', { name: 'Chloé', exact: true }).first().click();
    await waitUntil(async () => (await rows.count()) === 2);
    await page.getByRole('link', { name: 'comments.create' }).click();
    await waitUntil(async () => (await rows.count()) === 1);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor();
    expect(addressOf(page)).toBe(
      `?actor=${people.chloe.me.memberId}&operation=comments.create&to=2020-01-01`,
    );
    await page.getByLabel('To', { exact: true }).fill('');
    await page.getByLabel('From', { exact: true }).fill('2020-01-01');
    await waitUntil(async () => (await rows.count()) === 1);
    await page.getByRole('link', { name: 'Denied' }).click();
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor();
    expect(addressOf(page)).toContain('from=2020-01-01');
    await page.getByRole('link', { name: 'Clear filters' }).first().click();
    await waitUntil(async () => (await rows.count()) >= 5);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  journey('downloads the entries that match the filters', async () => {
    const page = await open(people.ana.me.token, '/audit?operation=stories.create');
    await page.locator('tbody tr').first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.ndjson$/);
    const text = await readFile(await download.path(), 'utf8');
    const entries = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown);
    const { items } = await house.client(people.ana.me.token).audit.list({ operation: 'stories.create' });
    expect(entries).toEqual(items);
    await page.getByRole('button', { name: 'Download' }).waitFor();
  });
}
