/** Tests the editor of specs, descriptions and comments, and what its texts become. */
import { beforeEach, expect } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { commentTexts, editTexts, storyTexts } from '../web/messages/story.ts';
import { intercept, journey, textIn } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function editorJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Pay by card'], ready: [], in_progress: [] });
  });
  const storyId = 'WEB-1';
  const field = (page: Page, name: string): Locator => page.getByRole('textbox', { name, exact: true });
  const toolbar = (page: Page): Locator => page.getByRole('toolbar', { name: 'Formatting' });
  const preview = (page: Page): Locator => page.getByRole('region', { name: 'Preview' });
  const focused = (page: Page, wanted: Locator): Promise<void> =>
    page.locator(':focus').and(wanted).waitFor();

  journey('formats a spec by mouse and keys, and shows how it will look beside it', async () => {
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: editTexts.write }).click();
    await toolbar(page).waitFor();
    await page.keyboard.type('Guests pay');
    await page.keyboard.press('Control+a');
    await toolbar(page).getByRole('button', { name: 'Bold' }).click();
    await preview(page).locator('strong', { hasText: 'Guests pay' }).waitFor();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\n\nby card');
    // The toolbar is one stop of the Tab key. Each of its buttons can be reached by arrow keys.
    await toolbar(page).getByRole('button', { name: 'Heading' }).focus();
    for (const name of ['Bold', 'Italic', 'Code', 'Link', 'List', 'Task list']) {
      await page.keyboard.press('ArrowRight');
      await focused(page, toolbar(page).getByRole('button', { name, exact: true }));
    }
    await page.keyboard.press('Enter');
    await page.keyboard.type('\nby invoice\n\n');
    await preview(page).getByRole('checkbox', { name: 'by invoice' }).check();
    expect(await textIn(field(page, editTexts.editor))).toBe(
      '**Guests pay**\n\n- [ ] by card\n- [x] by invoice\n',
    );
    // Tab leaves the editor, so that the keyboard is never trapped.
    await field(page, editTexts.editor).focus();
    await page.keyboard.press('Tab');
    await focused(page, preview(page));
    await page.setViewportSize({ width: 390, height: 844 });
    await preview(page).waitFor();
    expect(await field(page, editTexts.editor).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Preview' }).click();
    await field(page, editTexts.editor).focus();
    await page.keyboard.press('Control+Enter');
    await page.locator('.prose').getByRole('checkbox', { name: 'by invoice', checked: true }).waitFor();
    const { spec } = await house.client(people.chloe.me.token).storySpec.get({ storyId });
    expect(spec.content).toBe('**Guests pay**\n\n- [ ] by card\n- [x] by invoice\n');
  });

  journey('suggests people, agents, stories and templates, and links what was chosen', async () => {
    const { prompts } = house.client(people.ana.me.token);
    await prompts.project.upsert({
      ...{ projectId: 'WEB', slug: 'release', title: 'Release notes', body: '## Changes\n\n- '.repeat(600) },
    });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    const comment = field(page, storyTexts.comment);
    await comment.click();
    await toolbar(page).waitFor();
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
    const choose = async (typed: string, name: string, key = 'Enter'): Promise<void> => {
      await page.keyboard.type(typed);
      const option = options.filter({ hasText: name });
      await option.and(page.locator('[aria-selected="true"]')).waitFor();
      // While results for the last letters are loading, the former ones are shown as outdated.
      await page.locator('.cm-tooltip-autocomplete-disabled').waitFor({ state: 'detached' });
      // The editor names the option that is chosen by Enter, which is how screen readers learn of it.
      await waitUntil(
        async () =>
          (await comment.getAttribute('aria-activedescendant')) === (await option.getAttribute('id')),
      );
      await page.keyboard.press(key);
      await option.waitFor({ state: 'detached' });
    };
    await choose('For @b', 'Ben');
    await choose('and @rob', 'Robo', 'Tab');
    await choose('see #card', 'Pay by card');
    expect(await textIn(comment)).toBe('For @ben and @robo see WEB-2 ');
    // No suggestion is in the way of an address or a heading.
    await page.keyboard.type('a@b # Al\n');
    expect(await options.count()).toBe(0);
    await choose('/acc', 'Acceptance criteria');
    await page.keyboard.type('pays at once');
    await page.keyboard.press('Control+End');
    await choose('/rel', 'Release notes');
    // A prompt with a long text is fetched when it is chosen.
    await waitUntil(async () => (await textIn(comment)).includes('## Changes'));
    await page.keyboard.type('@c');
    await options.filter({ hasText: 'Chloé' }).waitFor();
    await page.keyboard.press('Escape');
    await options.first().waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Enter');
    const said = page.locator('.said .prose');
    await said.getByRole('link', { name: 'WEB-2' }).waitFor();
    for (const name of ['@ben', '@robo']) await said.getByRole('link', { name }).waitFor();
    await said.getByRole('checkbox', { name: 'pays at once' }).waitFor();
  });

  journey('edits, ticks and deletes one’s own comments, and reacts to others’', async () => {
    const ben = house.client(people.ben.me.token);
    const { comment } = await ben.comments.create({ storyId, body: '- [ ] by card\n- [ ] by *invoice*' });
    const [page, reader] = [
      await open(people.ben.me.token, `/s/${storyId}`),
      await open(people.dan.me.token, `/s/${storyId}`),
    ];
    await page.getByRole('checkbox', { name: 'by card' }).check();
    await reader.getByRole('checkbox', { name: 'by card', checked: true, disabled: true }).waitFor();
    expect(await reader.getByRole('button', { name: commentTexts.actions('Ben') }).count()).toBe(0);
    await reader.getByRole('button', { name: commentTexts.react('Ben') }).click();
    await reader.getByRole('menuitemcheckbox', { name: 'Thumbs up' }).click();
    await page.getByRole('button', { name: 'Thumbs up: 1', pressed: false }).click();
    await reader.getByRole('button', { name: 'Thumbs up: 2', pressed: true }).click();
    await page.getByRole('button', { name: 'Thumbs up: 1', pressed: true }).waitFor();
    const actions = page.getByRole('button', { name: commentTexts.actions('Ben') });
    const edit = async (): Promise<void> => {
      await actions.click();
      await page.getByRole('menuitem', { name: commentTexts.edit }).click();
      await toolbar(page).waitFor();
    };
    await edit();
    const editor = field(page, commentTexts.editor);
    expect(await textIn(editor)).toBe('- [x] by card\n- [ ] by *invoice*');
    await page.keyboard.press('Escape');
    await focused(page, actions);
    await edit();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(', in 30 days');
    // The author changes it in another window too.
    await ben.comments.update({ commentId: comment.id, body: 'By card only.' });
    await page.keyboard.press('Control+Enter');
    const met = page.getByRole('alert').filter({ hasText: 'Someone else just changed this' });
    await met.getByText('By card only.').waitFor();
    await met.getByRole('button', { name: 'Save mine' }).click();
    await reader.locator('.said .prose', { hasText: 'by invoice, in 30 days' }).waitFor();
    await reader.getByText(commentTexts.edited, { exact: true }).waitFor();
    await actions.click();
    await page.getByRole('menuitem', { name: commentTexts.delete }).click();
    await page.locator('.notice').getByText('Comment deleted').waitFor();
    // The deletion waits for an undo. Leaving the page sends it.
    await reader.locator('.said').waitFor();
    await page.reload();
    await reader.locator('.said').waitFor({ state: 'detached' });
  });

  journey('formats descriptions of epics and texts of prompts like a spec', async () => {
    const ana = house.client(people.ana.me.token);
    await ana.epics.create({ projectId: 'WEB', title: 'Sign up' });
    const page = await open(people.ana.me.token, '/p/WEB/epics');
    await page.getByRole('button', { name: 'Edit Sign up' }).click();
    await focused(page, page.locator('.form').getByLabel('Title'));
    await toolbar(page).waitFor();
    await field(page, 'Description').click();
    await page.keyboard.type('For everyone');
    await page.keyboard.press('Control+a');
    // Both keys arrive within one frame. What was typed right before the form is sent is sent too.
    await page.evaluate(`for (const key of ['b', 'Enter'])
      document.activeElement.shadowRoot.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key, ctrlKey: true, bubbles: true, cancelable: true, composed: true }));`);
    await page.locator('.epic-description strong', { hasText: 'For everyone' }).waitFor();
    const [epic] = (await ana.epics.list({ projectId: 'WEB' })).items;
    expect(epic?.description).toBe('**For everyone**');
    await house.go(page, '/settings/prompts');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await focused(page, field(page, 'Command name'));
    await page.keyboard.type('review');
    await field(page, 'Title').fill('Review a story');
    await toolbar(page).waitFor();
    await field(page, 'Text').click();
    await page.keyboard.type('Read {{storyKey}}.');
    await page.getByRole('button', { name: 'Task list' }).click();
    await page.getByRole('button', { name: 'Preview', exact: true }).click();
    await page.getByRole('region', { name: 'Preview' }).getByText('Read {{storyKey}}.').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('arguments: storyKey').waitFor();
    const [prompt] = (await ana.prompts.org.list({ includeBody: true })).items;
    expect(prompt?.body).toBe('- [ ] Read {{storyKey}}.');
    await page.getByRole('button', { name: 'Edit review' }).click();
    await toolbar(page).waitFor();
    // The page also asks before it discards a change that only the toolbar made.
    await page.getByRole('button', { name: 'Task list' }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await toolbar(page).waitFor({ state: 'detached' });
  });

  journey('merges changes of different lines by itself, in specs and descriptions', async () => {
    const ben = house.client(people.ben.me.token);
    const content = '# Pay\n\nBy card.\n\nBy invoice.\n';
    await ben.storySpec.update({ storyId, content });
    await ben.stories.update({ storyId, description: content });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: editTexts.edit, exact: true }).click();
    await toolbar(page).waitFor();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('In 30 days.');
    await ben.storySpec.update({ storyId, content: content.replace('card', 'card or coin') });
    await page.keyboard.press('Control+s');
    await page.locator('.notice', { hasText: editTexts.merged('Ben', 2) }).waitFor();
    const merged = `${content.replace('card', 'card or coin')}In 30 days.`;
    expect((await ben.storySpec.get({ storyId })).spec).toMatchObject({ version: 3, content: merged });
    await page.locator('.prose', { hasText: 'card or coin' }).waitFor();

    await page.getByRole('button', { name: editTexts.editDescription }).click();
    await toolbar(page).waitFor();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('In 30 days.');
    await ben.stories.update({ storyId, description: content.replace('card', 'card or coin') });
    await page.keyboard.press('Control+s');
    await waitUntil(async () => (await ben.stories.get({ storyId })).story.description === merged);
    await field(page, editTexts.description).waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  /** Holds the first save of the spec until the returned function is called. */
  async function holdSave(page: Page): Promise<() => void> {
    const held = Promise.withResolvers<undefined>();
    await intercept(
      page,
      '**/api/storySpec/update',
      async (route) => {
        await held.promise;
        await route.continue();
      },
      { times: 1 },
    );
    return () => held.resolve(undefined);
  }

  journey(
    'ticks the boxes that were clicked, although others change the text or a box is hidden',
    async () => {
      const ben = house.client(people.ben.me.token);
      const specNow = async () => (await ben.storySpec.get({ storyId })).spec.content;
      await ben.storySpec.update({
        storyId,
        content: 'Pay:\n\n- [ ] by card\n- [ ] by cash\n- [ ] by invoice',
      });
      await ben.stories.update({
        ...{ storyId, description: '<video>\n\n- [ ] hidden\n\n</video>\n\n- [ ] in sight\n- [ ] at hand' },
      });
      const page = await open(people.chloe.me.token, `/s/${storyId}`);
      const box = (name: string): Locator => page.getByRole('checkbox', { name });
      const saveNow = await holdSave(page);
      await box('by card').check();
      await box('by cash').check();
      await ben.storySpec.update({ storyId, content: `- [ ] by coin\n\n${await specNow()}` });
      saveNow();
      await waitUntil(async () => (await specNow()).includes('[x] by cash'));
      expect(await specNow()).toBe('- [ ] by coin\n\nPay:\n\n- [x] by card\n- [x] by cash\n- [ ] by invoice');
      await box('in sight').focus();
      await page.keyboard.press('Space');
      await waitUntil(
        async () => (await ben.stories.get({ storyId })).story.description?.includes('[x]') === true,
      );
      expect((await ben.stories.get({ storyId })).story.description).toMatch(
        /\[ \] hidden[^]*\[x\] in sight/,
      );
      await focused(page, page.getByRole('checkbox', { name: 'in sight', checked: true }));
    },
  );

  journey('ticks no box of a version that was approved before the page showed it', async () => {
    const { storySpec } = house.client(people.ben.me.token);
    const { reviewers } = house.client(people.ana.me.token);
    await reviewers.add({ storyId, memberId: people.ana.me.memberId });
    await storySpec.update({ storyId, content: 'Pay:\n\n- [ ] by card' });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    const saveNow = await holdSave(page);
    await page.getByRole('checkbox', { name: 'by card' }).check();
    await storySpec.update({ storyId, content: 'Pay now:\n\n- [ ] by card' });
    await reviewers.setVerdict({ storyId, verdict: 'approved' });
    saveNow();
    await page.locator('.notice', { hasText: editTexts.changedSpec }).waitFor();
    const { items } = await reviewers.list({ storyId });
    expect(items.map(({ verdict, stale }) => [verdict, stale])).toEqual([['approved', false]]);
    await page.getByRole('checkbox', { name: 'by card', checked: false, disabled: true }).waitFor();
  });

  journey('colors code in the language that it names, and leads through a long text', async () => {
    const parts = ['Problem', 'Solution', 'Tests', 'Notes'].map(
      (title) => `## ${title}\n\n${'Guests wait.\n\n'.repeat(30)}`,
    );
    const code =
      '```ts\nconst evil = "<img src=x onerror=alert(1)>"; // `x`\n```\n\n```nonsense\nconst x\n```\n';
    const { storySpec } = house.client(people.ben.me.token);
    await storySpec.update({ storyId, content: `${code}\n${parts.join('')}` });
    const page = await open(people.dan.me.token, `/s/${storyId}`);
    await page.locator('.prose .hljs-keyword', { hasText: 'const' }).waitFor();
    expect(await page.locator('.prose pre').first().textContent()).toBe(
      'const evil = "<img src=x onerror=alert(1)>"; // `x`\n',
    );
    expect(await page.locator('.prose img').count()).toBe(0);
    expect(await page.locator('.prose pre').nth(1).locator('span').count()).toBe(0);
    await page.getByText(storyTexts.outline(4)).click();
    const outline = page.getByRole('navigation', { name: storyTexts.outlineName });
    await outline.getByRole('button', { name: 'Notes' }).press('Enter');
    const heading = page.locator('.prose').getByRole('heading', { name: 'Notes' });
    await focused(page, heading);
    await waitUntil(async () => ((await heading.boundingBox())?.y ?? 900) < 200);
  });
}
