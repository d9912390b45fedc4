/** Tests the page of usage, the costs on a story's page, and the settings of budgets and prices. */
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function usageJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: [], ready: ['Say good night', 'Say hello'], in_progress: [] });
  });

  /** Reports the usage of a run on the story. Returns the agent's lease. */
  async function spend(storyKey: string, model: string, costMicros: number, inputTokens: number) {
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyKey, runId: `run-${storyKey}`, ttlSeconds: 3_600 },
    });
    const held = { executionId: execution.id, leaseToken };
    await robo.deliveryExecutions.renew({ ...held, usage: { model, costMicros, inputTokens } });
    return held;
  }

  journey('shows what runs cost, by story, agent, model and day, and what a landed story costs', async () => {
    const held = await spend('WEB-1', 'claude-sonnet-4', 1_500_000, 48_000);
    await house.client(people.robo.me.token).deliveryExecutions.release(held);
    await spend('WEB-2', 'gpt-5', 500_000, 2_000);
    await house.client(people.ana.me.token).stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    const page = await open(people.dan.me.token, '/');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('img', { name: 'Cost in USD per day' }).waitFor();
    const figure = (name: string) => page.locator('.figure', { hasText: name }).locator('dd');
    expect(await figure('Runs').innerText()).toBe('2');
    expect(await figure('Cost per landed').innerText()).toBe('$2.00');
    const table = page.getByRole('table').first();
    const cellsOf = async (name: string) =>
      (await table.getByRole('row', { name }).getByRole('cell').allInnerTexts()).slice(0, 5);
    expect(await cellsOf('WEB-1 Say good night')).toEqual(['$1.50', '$1.50', '1', '1', '48K']);
    expect(await cellsOf('WEB-2 Say hello')).toEqual(['$0.50', '–', '0', '1', '2K']);
    const groupBy = page.getByLabel('Group by');
    await groupBy.selectOption('model');
    await table.getByRole('row', { name: 'gpt-5' }).waitFor();
    await groupBy.selectOption('week');
    await table.getByText(/^Week of /).waitFor();
    await groupBy.selectOption('agent');
    await table.getByRole('link', { name: 'Show usage of Robo' }).click();
    await table.getByRole('link', { name: 'WEB-2 Say hello' }).click();
    await page.getByRole('link', { name: '$0.50 in 1 run' }).click();
    await table.getByRole('row', { name: 'gpt-5' }).waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'Remove filter: story WEB-2' }).click();
    await table.getByRole('row', { name: 'claude-sonnet-4' }).waitFor();
    await page.getByLabel('Time range').selectOption('365');
    await page.getByRole('img', { name: 'Cost in USD per week' }).waitFor();
  });

  journey('compares how the work of agents and models turned out', async () => {
    const held = await spend('WEB-1', 'gpt-5', 1_500_000, 1);
    const [robo, ana] = [house.client(people.robo.me.token), house.client(people.ana.me.token)];
    await robo.deliveryExecutions.update({ ...held, git: { branch: 'work/web-1' } });
    await robo.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
    await ana.reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId });
    await house.client(people.ben.me.token).reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'approved' });
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    await spend('WEB-2', 'claude-sonnet-4', 100_000, 1);
    const page = await open(people.dan.me.token, '/usage');
    const table = page.getByRole('region', { name: 'Outcomes by agent' }).getByRole('table');
    const cells = table.getByRole('row', { name: 'Robo' }).getByRole('cell');
    await cells.first().waitFor();
    expect(await cells.allInnerTexts()).toEqual(['1 of 1', '0 of 1', '0 of 2', '1', '0 of 1', '$1.60']);
    await page.getByLabel('Compare').selectOption('model');
    await page.getByRole('row', { name: 'gpt-5 1 of 1' }).waitFor();
    await page.getByLabel('Compare').selectOption('prompt');
    await page.getByText('after a prompt last changed.', { exact: false }).first().waitFor();
  });

  journey('leads from the warning about a budget to the budget', async () => {
    const budget = { scope: 'story', targetId: 'WEB-1', period: 'total', action: 'notify' } as const;
    await house.client(people.ana.me.token).budgets.set({ ...budget, amountMicros: 1_000_000 });
    await spend('WEB-1', 'gpt-5', 900_000, 1);
    const page = await open(people.ana.me.token, '/inbox');
    await page.getByRole('link', { name: /^80 % of the budget of / }).click();
    await page.getByText('$0.90 of $1.00').waitFor();
  });

  journey(
    'sets, raises and deletes a budget, which says how much is used and that agents are stopped',
    async () => {
      await spend('WEB-1', 'gpt-5', 1_700_000, 1);
      const page = await open(people.ana.me.token, '/settings/budgets');
      await page.getByRole('heading', { name: 'No budgets yet' }).waitFor();
      await page.getByRole('button', { name: 'Set budget' }).click();
      await page.getByLabel('For', { exact: true }).selectOption('project');
      await page.getByLabel('Project', { exact: true }).selectOption({ label: 'Web shop' });
      await page.getByLabel('Amount').fill('1.5');
      await page.getByText('Agents stop within a minute').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      const row = page.locator('.set-row');
      await row.getByText('Agents are stopped').waitFor();
      await row
        .getByText('$1.70 of $1.50 · 113 % used · each month · stops agents at 100 % · set by Ana')
        .waitFor();
      const story = await open(people.ana.me.token, '/s/WEB-1');
      await story.getByText('A budget is used up, so agents have to stop').waitFor();
      expect(await story.getByRole('button', { name: /^Lift stop/ }).count()).toBe(0);
      await story.getByRole('link', { name: 'Show budgets WEB-1' }).click();
      await story.locator('.set-row').getByText('Agents are stopped').waitFor();
      const robo = house.client(people.robo.me.token);
      await expect(
        robo.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-2', runId: 'r2' }),
      ).rejects.toMatchObject({ reason: 'budget_exceeded' });
      await page.getByRole('button', { name: 'Edit Web shop' }).click();
      await page.getByLabel('Amount').fill('20');
      await page.getByRole('button', { name: 'Save' }).click();
      await row.getByText('$1.70 of $20.00').waitFor();
      await robo.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-2', runId: 'r2' });
      await page.getByRole('button', { name: 'Remove Web shop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('heading', { name: 'No budgets yet' }).waitFor();
    },
  );

  journey('lets a lead set the budgets of the project alone, and an admin a price', async () => {
    const ana = house.client(people.ana.me.token);
    await ana.projects.members.add({ projectId: 'WEB', memberId: people.chloe.me.memberId, role: 'lead' });
    await ana.budgets.set({ scope: 'org', amountMicros: 9_000_000, period: 'month', action: 'notify' });
    const page = await open(people.chloe.me.token, '/p/WEB/settings/budgets');
    await page.getByRole('button', { name: 'Set budget' }).click();
    expect(await page.getByLabel('For', { exact: true }).locator('option').allInnerTexts()).toEqual([
      'A project',
      'A story',
    ]);
    await page.getByLabel('For', { exact: true }).selectOption('story');
    await page.getByLabel('Story', { exact: true }).fill('web-2');
    await page.getByLabel('Amount').fill('3');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.set-row', { hasText: 'WEB-2 Say hello' }).waitFor();
    await house.go(page, '/settings/budgets');
    await page.locator('.set-row', { hasText: 'WEB-2 Say hello' }).waitFor();
    expect(await page.getByText('The organization').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Set price' }).count()).toBe(0);

    const admin = await open(people.ana.me.token, '/settings/budgets');
    await admin.getByRole('button', { name: 'Set price' }).click();
    await admin.getByRole('textbox', { name: 'Model' }).fill('house-model');
    await admin.getByLabel('Input').fill('2');
    await admin.getByLabel('Output').fill('8');
    await admin.getByRole('button', { name: 'Save' }).click();
    const price = admin.getByRole('row', { name: 'house-model' });
    await price.getByText('Your organization').waitFor();
    expect((await price.getByRole('cell').allInnerTexts()).slice(0, 3)).toEqual(['$2.00', '$8.00', '$2.00']);
  });

  journey(
    'shows points only to a reader who turns them on, and only while the policy gives any',
    async () => {
      const { ana, ben } = people;
      await house.world.rows(
        `insert into point_tallies (org_id, member_id, kind, points, times)
       values ($1, $2, 'story_done', 120, 12), ($1, $2, 'review_given', 30, 6)`,
        people.orgId,
        ana.me.memberId,
      );
      await house.world.rows(
        `insert into point_scores (org_id, period, starts_on, scope_id, member_id, points)
       select $1, period, starts_on, $1, member_id, points
       from (values ('week', date_trunc('week', now())::date), ('all', date '1970-01-01')) p (period, starts_on),
         (values ($2::uuid, 150), ($3::uuid, 40)) m (member_id, points)`,
        people.orgId,
        ...[ana.me.memberId, ben.me.memberId],
      );
      const page = await open(ana.me.token, '/');
      const points = page.getByText(/\d points|leaderboard|streak/i);
      for (const address of ['/', '/inbox', '/settings/members', '/settings/points']) {
        await house.go(page, address);
        await page.locator('main h1').waitFor();
        expect([address, await points.filter({ hasNotText: 'Show points' }).count()]).toEqual([address, 0]);
      }
      await page.getByLabel('Show points and the leaderboard').check();
      const facts = page.locator('dl').filter({ hasText: 'Streak' });
      for (const fact of ['Points150', 'Reviews30 points', 'Rank1'])
        await facts.locator('.figure', { hasText: fact }).waitFor();
      const board = page.getByRole('region', { name: 'Leaderboard' });
      await board.getByRole('listitem').nth(1).waitFor();
      expect(await board.getByRole('listitem').allTextContents()).toEqual([
        expect.stringContaining('1. Ana'),
        expect.stringContaining('2. Ben'),
      ]);
      await board.getByLabel('Period').selectOption('month');
      await board.getByText('No points in this period yet').waitFor();
      await house.go(page, '/settings/sessions');
      await page.getByRole('heading', { name: 'Browser sessions' }).waitFor();
      await house.go(page, '/settings/points');
      await board.waitFor();
      await house.client(ana.me.token).policy.update({ gamificationEnabled: false });
      await page.getByText('Your organization doesn’t award points.').waitFor();
      await board.waitFor({ state: 'detached' });
      // The choice belongs to one person.
      const other = await open(ben.me.token, '/settings/points');
      expect(await other.getByLabel('Show points and the leaderboard').isChecked()).toBe(false);
    },
  );
}
