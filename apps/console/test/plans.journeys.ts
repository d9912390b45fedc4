/** Tests plans and waves: preview, apply, proposals by agents, the graph, and live changes. */
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { type Locator, type Page } from 'playwright-core';
import { journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function plansJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: [], ready: [], in_progress: [] });
  });
  const ana = () => house.client(people.ana.me.token);
  const row = (page: Page, ref: string): Locator =>
    page.locator('.plan-change').filter({ has: page.getByText(ref, { exact: true }) });
  const apply = async (items: Parameters<ReturnType<typeof ana>['plans']['apply']>[0]['items']) =>
    (await ana().plans.apply({ projectId: 'WEB', planRef: 'launch', items })).plan.id ?? '';

  journey('previews a pasted plan with old and new values, and applies it', async () => {
    const page = await open(people.ana.me.token, '/p/WEB/plans');
    await page.getByRole('heading', { name: 'No plans yet' }).waitFor();
    await page.getByRole('link', { name: 'Apply a plan' }).click();
    const text = page.getByLabel('Plan', { exact: true });
    await text.fill('- [ ] T001 Store passkeys in src/auth/keys.ts\n- [ ] T002 Sign in\n');
    await page.getByLabel('Name of the plan').fill('launch');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await row(page, 'T002').getByText('Create').waitFor();
    await row(page, 'T002').getByText('T001').waitFor();
    expect((await ana().stories.list({ projectId: 'WEB' })).items).toEqual([]);
    await page.getByRole('button', { name: 'Apply plan' }).click();
    await page.getByRole('heading', { name: 'launch', level: 1 }).waitFor();
    await page.getByText('0 of 2 stories done').first().waitFor();
    await page.getByRole('region', { name: 'Wave 2' }).getByRole('link', { name: 'Sign in' }).waitFor();

    await ana().stories.update({ storyId: 'WEB-2', title: 'Sign in with a passkey' });
    await page.getByRole('link', { name: 'Apply changes' }).click();
    expect(await page.getByLabel('Name of the plan').inputValue()).toBe('launch');
    await page.getByLabel('Plan', { exact: true }).fill('[{ ref: T002, title: Log in, estimate: 3 }]');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    const changed = row(page, 'T002');
    await changed.getByText('stays Sign in with a passkey').waitFor();
    await changed.getByText('The field was changed on the board').waitFor();
    expect(await changed.locator('.plan-field', { hasText: 'Estimate' }).textContent()).toContain(
      'nothing → After 3',
    );
    expect(await row(page, 'T001').count()).toBe(0);
    await page.getByLabel('Cancel the stories of items').check();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await row(page, 'T001').getByText('The story is canceled.').waitFor();
    await page.getByRole('button', { name: 'Apply plan' }).click();
    await page.getByText('0 of 1 story done').first().waitFor();
    expect((await ana().stories.get({ storyId: 'WEB-1' })).story.status).toBe('canceled');
  });

  journey('names each problem of a plan with the ref of its item', async () => {
    const page = await open(people.ana.me.token, '/p/WEB/apply-plan?plan=launch');
    const text = page.getByLabel('Plan', { exact: true });
    const preview = page.getByRole('button', { name: 'Preview changes' });
    for (const [plan, problem] of [
      ['items: [', 'The plan can’t be read'],
      ['project: APP\nitems: [{ ref: a, title: A }]', 'The plan names another project: APP.'],
      ['items: [{ ref: a, title: A }, { ref: b, title: B, dueDate: soon }]', 'items[1].dueDate (b)'],
      [
        'items: [{ ref: a, title: A, dependsOn: [b] }, { ref: b, title: B, dependsOn: [a] }]',
        'The plan can’t be applied',
      ],
    ] as const) {
      await text.fill(plan);
      await preview.click();
      await page.getByRole('alert').getByText(problem).waitFor();
    }
  });

  journey('lets a member preview and apply a plan that an agent proposes in a comment', async () => {
    await ana().stories.create({ projectId: 'WEB', title: 'Plan the launch' });
    const page = await open(people.ana.me.token, '/s/WEB-1');
    await page.getByRole('heading', { name: 'Plan the launch' }).waitFor();
    await house.client(people.robo.me.token).comments.create({
      storyId: 'WEB-1',
      body: 'Please review:\n\n```muster-plan\nplan: launch\nitems:\n  - { ref: a, title: Write the page }\n```',
    });
    await page.getByRole('link', { name: 'Review proposed plan' }).click();
    await page.getByText('Proposed by Robo in WEB-1').waitFor();
    await row(page, 'a').getByText('Write the page').waitFor();
    await page.getByRole('button', { name: 'Apply plan' }).click();
    await page.getByRole('heading', { name: 'launch', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Write the page' }).first().waitFor();
  });

  journey('shows waves, conflicts and what can start, and follows changes of others', async () => {
    const touches = ['src/auth'];
    const planId = await apply([
      { ref: 'a', title: 'Alpha', estimate: 3 },
      { ref: 'b', title: 'Beta', dependsOn: ['a'], touches },
      { ref: 'c', title: 'Gamma', dependsOn: ['a'], touches: ['src/auth/login.ts'], estimate: 2 },
      { ref: 'd', title: 'Delta', dependsOn: ['c'] },
    ]);
    const page = await open(people.chloe.me.token, `/p/WEB/plans/${planId}`);
    const wave = (number: number): Locator => page.getByRole('region', { name: `Wave ${number}` });
    await wave(1).getByRole('link', { name: /Alpha/ }).waitFor();
    await page.getByText('1 story can start now').waitFor();
    await page.getByText('3 waiting for others').waitFor();
    await page.getByText('WEB-1 → WEB-3 → WEB-4').waitFor();
    await page.getByRole('region', { name: 'Conflicts' }).getByText('src/auth/login.ts').waitFor();
    await wave(2)
      .getByRole('link', { name: /Gamma/ })
      .getByText('Conflicts with WEB-2')
      .waitFor({ state: 'attached' });
    await wave(3)
      .getByRole('link', { name: /after WEB-3/ })
      .waitFor();

    await wave(1).getByRole('link', { name: /Alpha/ }).focus();
    const focused = (name: RegExp): Promise<void> =>
      page.locator(':focus').and(page.getByRole('link', { name })).waitFor();
    for (const [key, name] of [
      ['ArrowRight', /Gamma/],
      ['ArrowDown', /Beta/],
      ['ArrowLeft', /Alpha/],
      ['ArrowRight', /Gamma/],
    ] as const) {
      await page.keyboard.press(key);
      await focused(name);
    }
    // A merge or a status elsewhere frees what waited for it, and the focus stays on the story.
    await ana().stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    await wave(1)
      .getByRole('link', { name: /Gamma.*/ })
      .waitFor();
    await focused(/Gamma/);
    await page.getByText('1 of 4 stories done').first().waitFor();
    await page.getByText('2 stories can start now').waitFor();
    // Once the focus has left the stories, no change takes it back.
    await page.evaluate('document.activeElement.blur()');
    await apply([{ ref: 'e', title: 'Epsilon' }]);
    await wave(1)
      .getByRole('link', { name: /Epsilon/ })
      .waitFor();
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);

    await house.go(page, '/p/WEB?work=%5B%22start%22%5D');
    await waitUntil(async () => (await page.locator('.card').count()) === 3);
    expect(await page.locator('.card', { hasText: 'Delta' }).count()).toBe(0);
    await page
      .locator('.card', { hasText: 'Gamma' })
      .getByText('Can start now')
      .waitFor({ state: 'attached' });
  });
}
