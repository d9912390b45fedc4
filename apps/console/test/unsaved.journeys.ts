/** Tests that unsaved text is kept or asked about, wherever it is written. */
import { beforeEach, expect } from '@jest/globals';
import { type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { t } from '../web/messages/index.ts';
import { editTexts } from '../web/messages/story.ts';
import { viewTexts } from '../web/messages/views.ts';
import { intercept, journey, textIn } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

const { leave, discard } = t.questions;

export function unsavedJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
  });
  const answer = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
  const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
  /** Leaves for another page and comes back. */
  async function leaveAndReturn(page: Page): Promise<void> {
    await page.getByRole('link', { name: t.nav.activity }).click();
    await answer(page, leave.yes);
    await page.getByRole('heading', { name: t.nav.activity, level: 1 }).waitFor();
    await page.goBack();
  }
  /** Presses Cancel twice. The first time it keeps the text when asked, and the second time it discards the text. */
  async function cancelTwice(page: Page, kept: () => Promise<void>): Promise<void> {
    const cancel = page.getByRole('main').getByRole('button', { name: t.cancel, exact: true });
    await cancel.click();
    await answer(page, discard.no);
    await kept();
    await cancel.click();
    await answer(page, discard.yes);
    await cancel.waitFor({ state: 'detached' });
  }

  journey('keeps the note of a verdict, the note of a version and a title that were left', async () => {
    const { reviewers } = house.client(people.ana.me.token);
    await reviewers.add({ storyId: 'WEB-1', memberId: people.chloe.me.memberId });
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    await field(page, editTexts.verdictNote).fill('Guests cannot pay.');
    await leaveAndReturn(page);
    await waitUntil(
      async () => (await field(page, editTexts.verdictNote).inputValue()) === 'Guests cannot pay.',
    );
    await page.getByRole('button', { name: editTexts.verdicts.changes_requested }).click();
    await waitUntil(async () => {
      const { items } = await reviewers.list({ storyId: 'WEB-1' });
      return items[0]?.note === 'Guests cannot pay.';
    });
    await page.getByRole('button', { name: editTexts.write }).click();
    await field(page, editTexts.editor).focus();
    await page.keyboard.insertText('# Pay');
    await field(page, editTexts.note).fill('First version');
    await leaveAndReturn(page);
    await waitUntil(async () => (await field(page, editTexts.note).inputValue()) === 'First version');
    await cancelTwice(page, () => field(page, editTexts.editor).getByText('# Pay').waitFor());
    await house.go(page, '/p/WEB');
    const add = page.getByRole('button', { name: t.board.add('Ready') });
    await add.click();
    await page.keyboard.type('Pay later');
    await page.keyboard.press('Escape');
    await field(page, t.board.add('Ready')).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: t.nav.activity }).click();
    await page.getByRole('heading', { name: t.nav.activity, level: 1 }).waitFor();
    await page.goBack();
    await add.click();
    expect(await field(page, t.board.add('Ready')).inputValue()).toBe('Pay later');
  });

  journey('asks before it discards a reason, a description of an epic and a title', async () => {
    await house.client(people.ana.me.token).epics.create({ projectId: 'WEB', title: 'Sign up' });
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    await page.getByRole('button', { name: editTexts.block }).click();
    await field(page, editTexts.blockedNote).fill('No contract yet.');
    await cancelTwice(page, async () =>
      expect(await field(page, editTexts.blockedNote).inputValue()).toBe('No contract yet.'),
    );
    await page.getByRole('button', { name: editTexts.editTitle }).click();
    await field(page, editTexts.title).fill('Guests pay');
    await cancelTwice(page, async () =>
      expect(await field(page, editTexts.title).inputValue()).toBe('Guests pay'),
    );
    await house.go(page, '/p/WEB/epics');
    // The page of the story, which is shown until this one is loaded, has such a button too.
    await page.getByRole('button', { name: `${viewTexts.epics.edit} Sign up` }).click();
    await field(page, viewTexts.epics.description).fill('Everyone can sign up.');
    await page.getByRole('link', { name: t.nav.activity }).click();
    await answer(page, leave.no);
    await cancelTwice(page, async () =>
      expect(await textIn(field(page, viewTexts.epics.description))).toBe('Everyone can sign up.'),
    );
  });

  journey('keeps the note to the next holder when the dialog is closed', async () => {
    const { deliveryExecutions } = house.client(people.chloe.me.token);
    const { execution, leaseToken } = await deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1' },
    });
    await deliveryExecutions.checkpoint({ executionId: execution.id, leaseToken, summary: 'Half done' });
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    await page.getByRole('button', { name: `${editTexts.handOff} WEB-1` }).click();
    await field(page, editTexts.handOffNote).fill('Ask the bank first.');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `${editTexts.handOff} WEB-1` }).click();
    expect(await field(page, editTexts.handOffNote).inputValue()).toBe('Ask the bank first.');
  });

  journey(
    'guards settings that could not be saved, and leaves them when another changes theirs',
    async () => {
      const ana = house.client(people.ana.me.token);
      const page = await open(people.ana.me.token, '/p/WEB/settings/general');
      const about = page.getByLabel('Description');
      await about.fill('All about payment.');
      await intercept(page, '**/api/projects/update', (route) =>
        route.fulfill({
          ...{ status: 403, contentType: 'application/json' },
          body: JSON.stringify({
            ...{ code: 'forbidden', message: 'Not now.', status: 403, requestId: 'r', details: {} },
          }),
        }),
      );
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.notice', { hasText: 'Not now.' }).waitFor();
      await page.getByRole('link', { name: t.nav.activity }).click();
      await answer(page, leave.no);
      const { project } = await ana.projects.get({ projectId: 'WEB' });
      await ana.projects.update({ projectId: 'WEB', name: 'Web', expectedVersion: project.version });
      await waitUntil(async () => (await page.getByLabel('Name', { exact: true }).inputValue()) === 'Web');
      expect(await about.inputValue()).toBe('All about payment.');
      await page.unroute('**/api/projects/update');
      await page.getByRole('button', { name: 'Save' }).click();
      await waitUntil(async () => {
        const saved = await ana.projects.get({ projectId: 'WEB' });
        return saved.project.description === 'All about payment.';
      });
      await page.locator('.notice[data-tone="good"]', { hasText: 'Saved' }).waitFor();
      await page.getByRole('link', { name: t.nav.activity }).click();
      await page.getByRole('heading', { name: t.nav.activity, level: 1 }).waitFor();
    },
  );
}
