/** Tests a story as people read it: changes word by word, comments, and work that can be asked to stop. */
import { beforeEach, expect } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type People, waitUntil } from '@muster/testing';
import { beginsAtTheRight, goTo, intercept, journey, textIn } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function storyJourneys(house: House): void {
  let people: People;
  const windows = useWindows(house);
  const { open } = windows;
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
  });
  const storyId = 'WEB-1';

  journey('shows word by word what changed between two versions, and brings an old one back', async () => {
    const chloe = house.client(people.chloe.me.token);
    await chloe.storySpec.update({ storyId, content: 'Guests pay by card.\n' });
    await chloe.storySpec.update({ storyId, content: 'Guests pay by invoice.\n' });
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: 'Show last change' }).click();
    await page.locator('del', { hasText: 'card' }).waitFor();
    await page.locator('ins', { hasText: 'invoice' }).waitFor();
    await page.waitForURL(/from=1&to=2/);
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.locator('.prose', { hasText: 'Guests pay by card.' }).waitFor();
    expect((await chloe.storySpec.get({ storyId })).spec).toMatchObject({
      version: 3,
      content: 'Guests pay by card.\n',
    });
  });

  journey('shows what others write as they meant it, and runs nothing of it', async () => {
    const chloe = house.client(people.chloe.me.token);
    const content = [
      ...['# Hello', '<img src=x onerror="document.title=1">', '<script>document.title = 1</script>'],
      ...['[bad](javascript:document.title=1)', '![a picture](https://example.com/p.png)', '**bold**'],
      ...['[<img src=x onerror="document.title=1">](vbscript:x)', '<li><input type=checkbox></li>'],
      ...['[dead part](#hello)', '[dead page](/docs/tokens)', '[dead host](//example.com/x)'],
      ...['<form action=//example.com><input name=q></form>', '<b style="position:fixed" id=root>deep</b>'],
    ].join('\n\n');
    await chloe.storySpec.update({ storyId, content });
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    const prose = page.locator('.prose');
    await prose.locator('strong', { hasText: 'bold' }).waitFor();
    expect(await prose.locator('img, script, form, input, [style], [id], [onerror]').count()).toBe(0);
    expect(await prose.locator('a', { hasText: /bad|dead/ }).count()).toBe(0);
    const picture = prose.locator('a', { hasText: 'a picture' });
    expect([await picture.getAttribute('href'), await picture.getAttribute('rel')]).toEqual([
      ...['https://example.com/p.png', 'noopener noreferrer nofollow'],
    ]);
    // Text becomes elements only through DOMPurify; the page has no other way.
    expect(
      await page.evaluate(
        `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'let'; } catch { return 'refused'; } })()`,
      ),
    ).toBe('refused');
    // Violations of the policy are the only faults of this page.
    const [window] = windows.take();
    expect(window?.faults.filter((fault) => !/TrustedHTML|Content Security Policy/.test(fault))).toEqual([]);
    await window?.close();
  });

  journey('scrolls a table that is too wide inside its column, and breaks none of its words', async () => {
    const chloe = house.client(people.chloe.me.token);
    const row = (cell: string): string => `|${`${cell}|`.repeat(40)}`;
    await chloe.storySpec.update({ storyId, content: [row('heading'), row('--'), row('number')].join('\n') });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('complementary', { name: 'About the story' }).waitFor();
    await page.locator('.prose td').first().waitFor();
    const layout = `{
      const boxOf = (selector) => document.querySelector(selector).getBoundingClientRect();
      const range = document.createRange();
      const isBroken = (cell) => {
        range.selectNodeContents(cell);
        return range.getClientRects().length > 1;
      };
      ({
        isOverSideBar: boxOf('.prose table').right > boxOf('.story-side').left,
        brokenCells: [...document.querySelectorAll('.prose :is(th, td)')].filter(isBroken).length,
      });
    }`;
    expect(await page.evaluate(layout)).toEqual({ isOverSideBar: false, brokenCells: 0 });
    // Playwright refuses to click an element that another one covers, so this click proves that the button is
    // not covered.
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await editor(page).waitFor();
  });

  journey('writes each text in the direction of its own first letter', async () => {
    const text = 'مرحبا English 123';
    const chloe = house.client(people.chloe.me.token);
    await chloe.stories.update({ storyId, title: text });
    const content = [text, `## ${text}`, `* ${text}`, `> ${text}`, `| ${text} |\n|--|\n| ${text} |`];
    await chloe.storySpec.update({ storyId, content: content.join('\n\n') });
    await chloe.comments.create({ storyId, body: text });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.locator('.said').getByText(text).waitFor();
    await page.locator('.prose td').getByText(text).waitFor();
    const fieldModes = `[...document.querySelectorAll('textarea')].map((field) => getComputedStyle(field).unicodeBidi)`;
    expect({
      title: await beginsAtTheRight(page, 'h1', text),
      blocks: await beginsAtTheRight(page, '.prose *', text),
      fields: new Set(await page.evaluate<string[]>(fieldModes)),
    }).toEqual({
      title: [true],
      // The spec has six blocks, and the comment has one.
      blocks: Array.from({ length: 7 }, () => true),
      fields: new Set(['plaintext']),
    });
    await page.getByRole('button', { name: 'Show lines' }).click();
    await page.locator('.lines').getByText(text, { exact: true }).waitFor();
    expect(await beginsAtTheRight(page, '.lines code', text)).toEqual([true]);
  });

  journey('ticks a box of a spec for everyone, and leads from a key to its story', async () => {
    const chloe = house.client(people.chloe.me.token);
    await chloe.stories.create({ projectId: 'WEB', title: 'Beta' });
    const content = '- [ ] pays by card\n- [ ] gets a receipt, see WEB-2\n';
    await chloe.storySpec.update({ storyId, content });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    const reader = await open(people.dan.me.token, `/s/${storyId}`);
    await page.getByRole('checkbox', { name: 'gets a receipt' }).check();
    await reader.getByRole('checkbox', { name: 'gets a receipt', checked: true, disabled: true }).waitFor();
    await page.getByRole('checkbox', { name: 'pays by card', disabled: false }).press('Space');
    await reader.getByRole('checkbox', { name: 'pays by card', checked: true }).waitFor();
    expect((await chloe.storySpec.get({ storyId })).spec).toMatchObject({
      ...{ version: 3, content: content.replaceAll('[ ]', '[x]') },
    });
    await reader.locator('.prose').getByRole('link', { name: 'WEB-2' }).click();
    await reader.getByRole('heading', { name: 'Beta', level: 1 }).waitFor();
  });

  journey('does not let a tick end an approval of the spec', async () => {
    const [chloe, ben] = [house.client(people.chloe.me.token), house.client(people.ben.me.token)];
    await chloe.storySpec.update({ storyId, content: '- [ ] pays by card\n' });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('checkbox', { name: 'pays by card', disabled: false }).waitFor();
    await chloe.reviewers.add({ storyId, memberId: people.ben.me.memberId });
    await ben.reviewers.setVerdict({ storyId, verdict: 'approved' });
    await page.getByText('This version is approved').waitFor();
    expect(await page.getByRole('checkbox', { name: 'pays by card', disabled: true }).count()).toBe(1);
  });

  journey('carries a talk on from one window to the other', async () => {
    const [mine, theirs] = [
      await open(people.ana.me.token, `/s/${storyId}`),
      await open(people.ben.me.token, `/s/${storyId}`),
    ];
    await mine.getByRole('textbox', { name: 'Comment' }).fill('Do we keep the card?');
    await mine.getByRole('button', { name: 'Comment' }).click();
    await theirs.getByText('Do we keep the card?').waitFor();
    await theirs.getByRole('textbox', { name: /^Reply to/ }).fill('For a year.');
    await theirs.getByRole('button', { name: 'Reply' }).click();
    await mine.getByText('For a year.').waitFor();
    await mine.getByRole('button', { name: 'Resolve' }).click();
    await theirs.getByText(/^Resolved by/).waitFor();
  });

  journey('shows who holds the work, from which checkpoint, and asks them to stop', async () => {
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyId, runId: 'run-1' },
    });
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    await page.getByText('working').first().waitFor();
    await robo.deliveryExecutions.checkpoint({
      ...{ executionId: execution.id, leaseToken, summary: 'The form is there', nextSteps: ['Check it'] },
    });
    await page.getByText('The form is there').waitFor();
    await page.getByText('Check it').waitFor();
    // The section about the work names the lease holder, so the page shows no readiness section.
    expect(await page.getByRole('heading', { name: 'Not ready to start' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Ask to stop WEB-1' }).click();
    await page.getByText(/Ana asked to stop, /).waitFor();
    await page.locator('.state', { hasText: 'stopping' }).waitFor();
    await waitUntil(async () => {
      const { signals } = await robo.deliveryExecutions.renew({ executionId: execution.id, leaseToken });
      return signals.some(({ kind }) => kind === 'stop_requested');
    });
    await robo.deliveryExecutions.release({ executionId: execution.id, leaseToken });
    await page.getByRole('button', { name: 'Lift stop WEB-1' }).click();
    await page.getByRole('button', { name: 'Lift stop WEB-1' }).waitFor({ state: 'detached' });
    await robo.deliveryExecutions.acquire({ targetType: 'story', targetId: storyId, runId: 'run-2' });
  });

  journey(
    'shows on the story and its card that an assigned agent has no runner, and that it picks up',
    async () => {
      const { agentId } = people.robo.me;
      const [story, board] = [
        await open(people.ana.me.token, `/s/${storyId}`),
        await open(people.ben.me.token, '/p/WEB'),
      ];
      const target = { targetType: 'story', targetId: storyId } as const;
      await house.client(people.ana.me.token).assignments.set({ ...target, agentId: agentId ?? '' });
      for (const page of [story, board]) await page.getByText('No runner is listening for Robo').waitFor();
      await house.client(people.robo.me.token).deliveryExecutions.acquire({ ...target, runId: 'run-1' });
      for (const page of [story, board]) await page.getByText('Picked up by Robo').waitFor();
    },
  );

  /** Locates the editor of a spec, in which single-key shortcuts are inactive. */
  const editor = (page: Page): Locator => page.getByRole('textbox', { name: 'Spec, in Markdown' });
  async function writeSpec(page: Page, text: string): Promise<void> {
    await editor(page).focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  }

  journey('writes a spec, byte by byte, and keeps a draft that was left', async () => {
    const content = '# Pay\n\n1) by card\n* by *invoice*  \n\n\n| a | b |\n|--|--|\n';
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: 'Write a spec' }).click();
    await writeSpec(page, content);
    await page.keyboard.type('?c/');
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click();
    await editor(page).getByText('?c/').waitFor();
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave page' }).click();
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('Draft restored').waitFor();
    await editor(page).getByText('?c/').waitFor();
    await editor(page).focus();
    await page.keyboard.press('Control+s');
    await page.locator('.outlined .prose', { hasText: 'by invoice' }).waitFor();
    const { spec } = await house.client(people.chloe.me.token).storySpec.get({ storyId });
    expect([spec.version, spec.content]).toEqual([1, `${content}?c/`]);
  });

  journey('restores a comment that was not sent in a new page of the same person', async () => {
    const token = people.ana.me.token;
    const page = await open(token, `/s/${storyId}`);
    const comment = page.getByRole('textbox', { name: 'Comment' });
    await comment.fill('Do we keep the card?');
    await goTo(page, page.url());
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByText('Draft restored').waitFor();
    expect(await textIn(comment)).toBe('Do we keep the card?');
    // Text typed during the save stays in the field.
    await page.route('**/api/comments/create', async (route) => {
      await comment.fill('Do we keep the card? For how long?');
      await route.continue();
    });
    await page.getByRole('button', { name: 'Comment' }).click();
    await page.locator('.said').getByText('Do we keep the card?', { exact: true }).waitFor();
    await waitUntil(async () => (await textIn(comment)) === 'For how long?');
    // Someone else signs in: the draft is no longer in the browser.
    await goTo(page, page.url());
    await page.getByLabel('Token').fill(people.ben.me.token);
    await page.keyboard.press('Enter');
    await page.getByText('Do we keep the card?').waitFor();
    expect(await textIn(comment)).toBe('');
    await waitUntil(async () => !String(await page.evaluate(`Object.keys(localStorage)`)).includes('draft'));
  });

  journey('shows a version that another wrote beside mine, and loses neither', async () => {
    const ben = house.client(people.ben.me.token);
    await ben.storySpec.update({ storyId, content: 'Guests pay by card.\n' });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await writeSpec(page, 'Guests pay by card, at once.\n');
    await ben.storySpec.update({ storyId, content: 'Guests pay by invoice.\n' });
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByText('Ben saved version 2 while you were editing').waitFor();
    await page.locator('ins', { hasText: 'invoice' }).waitFor();
    await editor(page).getByText('at once').waitFor();
    expect((await ben.storySpec.get({ storyId })).spec.content).toBe('Guests pay by invoice.\n');
    await writeSpec(page, 'Guests pay by invoice, at once.\n');
    await page.getByRole('button', { name: 'Save as new version' }).click();
    await page.locator('.prose', { hasText: 'by invoice, at once' }).waitFor();
    const { items } = await ben.storySpec.history({ storyId });
    expect(items.map(({ version, author }) => [version, author?.name])).toEqual([
      [3, 'Chloé'],
      [2, 'Ben'],
      [1, 'Ben'],
    ]);
  });

  journey('talks about a line, asks for a review, and takes the verdict', async () => {
    const chloe = house.client(people.chloe.me.token);
    await chloe.storySpec.update({ storyId, content: 'One\nTwo\nThree\n' });
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: 'Show lines' }).click();
    await page.getByRole('button', { name: 'Comment on line 2' }).click();
    await page.getByRole('textbox', { name: 'Comment on line 2' }).fill('Why two?');
    await page.locator('.line-talk').getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('button', { name: '1 thread on line 2' }).waitFor();
    const { items } = await chloe.comments.list({ storyId });
    expect(items.map(({ body, anchor }) => [body, anchor])).toEqual([
      ['Why two?', { specVersion: 1, line: 2 }],
    ]);
    await page.getByRole('combobox', { name: 'Request a review' }).selectOption({ label: 'Ana' });
    await page.getByRole('textbox', { name: 'Note (optional)' }).fill('Say why.');
    await page.getByRole('button', { name: 'Request changes' }).click();
    await page.getByText('requested changes').waitFor();
    await chloe.storySpec.update({ storyId, content: 'One\nTwo, since it is a pair\nThree\n' });
    await page.getByText('outdated: the work has changed since').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('approved', { exact: true }).waitFor();
  });

  journey('assigns, takes work over and hands it on', async () => {
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyId, runId: 'run-1' },
    });
    await robo.deliveryExecutions.checkpoint({ executionId: execution.id, leaseToken, summary: 'Half done' });
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    await page.getByRole('combobox', { name: 'Assignee' }).selectOption({ label: 'Ben' });
    await page.getByRole('button', { name: 'Hand off WEB-1' }).click();
    await page.getByRole('dialog').getByLabel('To').selectOption({ label: 'Ben' });
    await page.getByRole('dialog').getByLabel('What they should know').fill('The rest is yours');
    await page.getByRole('dialog').getByRole('button', { name: 'Hand off' }).click();
    await page.locator('.notice', { hasText: 'WEB-1 was offered to Ben' }).waitFor();
    const ben = await open(people.ben.me.token, '/');
    await ben.getByRole('region', { name: 'Waiting for you' }).getByText('The rest is yours').waitFor();
    await expect(
      robo.deliveryExecutions.update({ executionId: execution.id, leaseToken, progress: 90 }),
    ).rejects.toThrow('granted to another holder');
    const { items } = await house
      .client(people.ben.me.token)
      .stories.list({ projectId: 'WEB', view: 'card' });
    expect(items.map(({ assignees }) => assignees.member?.name)).toEqual(['Ben']);
  });

  journey('shows the newest of what happened to the work first, however much that is', async () => {
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyId, runId: 'run-1' },
    });
    await house.world.rows(
      `with more as (insert into execution_events (org_id, execution_id, seq, kind, actor)
         select v.org_id, v.execution_id, n, 'updated', v.actor
         from execution_events v, generate_series(2, 260) n where v.execution_id = $1 and v.seq = 1)
       update executions set last_event_seq = 260 where id = $1`,
      execution.id,
    );
    const held = { executionId: execution.id, leaseToken };
    await robo.deliveryExecutions.checkpoint({ ...held, summary: 'The form is there' });
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    await page.locator('.side-work summary').click();
    const newest = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').first();
    await newest.getByText('checkpoint saved').waitFor();
    await page.getByRole('button', { name: 'Ask to stop WEB-1' }).click();
    await newest.getByText('stop requested').waitFor();
  });

  journey('says who is at the same files where no file is locked', async () => {
    const { story } = await house
      .client(people.ana.me.token)
      .stories.create({ projectId: 'WEB', title: 'Beta' });
    for (const [{ me }, targetId] of [
      [people.robo, storyId],
      [people.ben, story.key],
    ] as const) {
      const { deliveryExecutions } = house.client(me.token);
      const { execution, leaseToken } = await deliveryExecutions.acquire({
        ...{ targetType: 'story', targetId, runId: 'run-1' },
      });
      await deliveryExecutions.checkpoint({
        ...{ executionId: execution.id, leaseToken, summary: 'One file moved' },
        filesTouched: ['docs/guide.md'],
      });
    }
    const page = await open(people.ana.me.token, `/s/${storyId}`);
    await page.getByText('docs/guide.md').waitFor();
    await page.getByText('Ben is changing it').waitFor();
    await page.getByRole('link', { name: 'View their story' }).click();
    await page.getByRole('heading', { name: 'Beta' }).waitFor();
  });

  journey('saves a spec that met another’s, though theirs could not be read at once', async () => {
    const ben = house.client(people.ben.me.token);
    await ben.storySpec.update({ storyId, content: 'Guests pay by card.\n' });
    const page = await open(people.chloe.me.token, `/s/${storyId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await writeSpec(page, 'Guests pay by card, at once.\n');
    await intercept(
      page,
      '**/api/storySpec/get',
      (route) =>
        route.fulfill({
          ...{ status: 500, contentType: 'application/json' },
          body: JSON.stringify({
            code: 'internal',
            message: 'No.',
            status: 500,
            requestId: 'r',
            details: {},
          }),
        }),
      { times: 1 },
    );
    await ben.storySpec.update({ storyId, content: 'Guests pay by invoice.\n' });
    const save = page.getByRole('button', { name: 'Save version' });
    await save.click();
    await page.locator('.notice', { hasText: 'could not be saved' }).waitFor();
    await save.click();
    await page.getByText('Ben saved version 2 while you were editing').waitFor();
    await editor(page).getByText('at once').waitFor();
  });
}
