/** Tests the page of a run: its live log, its steps, a question, and a failure. */
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { journey } from './browser.ts';
import { junitReport } from './files.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function runsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: [], ready: ['Say good night'], in_progress: [] });
  });

  journey('takes the verdict of a reviewer beside the changes of a run', async () => {
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', runId: 'run-1', start: true },
    });
    const held = { executionId: execution.id, leaseToken };
    await robo.deliveryExecutions.update({ ...held, git: { branch: 'work/web-1-1' } });
    await robo.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
    const ana = house.client(people.ana.me.token);
    await ana.reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId });
    const page = await open(people.ben.me.token, `/runs/${execution.id}`);
    const own = page.getByRole('region', { name: 'Your verdict' });
    await own.getByRole('button', { name: 'Approve' }).click();
    await own.waitFor({ state: 'detached' });
    const [review] = (await ana.reviewers.list({ storyId: 'WEB-1' })).items;
    expect(review?.verdict).toBe('approved');
    const reader = await open(people.dan.me.token, `/runs/${execution.id}`);
    await reader.getByRole('heading', { name: 'Run of Robo', level: 1 }).waitFor();
    expect(await reader.getByRole('region', { name: 'Your verdict' }).count()).toBe(0);
  });

  journey('shows a run from its start to its failure, with its log as it arrives', async () => {
    const robo = house.client(people.robo.me.token);
    const run = { projectId: 'WEB', runId: 'run-1' };
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', runId: run.runId, ttlSeconds: 3_600, start: true },
    });
    const held = { executionId: execution.id, leaseToken };
    await robo.agents.runEvent({ ...run, kind: 'started', executionId: execution.id });
    const log = (from: number, to: number) =>
      robo.agents.runEvent({
        ...{ ...run, kind: 'log' },
        lines: Array.from({ length: to - from + 1 }, (_, nth) => ({ message: `test ${from + nth} passed` })),
      });
    await log(1, 200);
    await robo.deliveryExecutions.checkpoint({
      ...{ ...held, summary: 'The greeting is there', filesTouched: ['src/greeting.ts'] },
    });
    await robo.deliveryExecutions.update({ ...held, git: { branch: 'work/web-1-1', checks: 'pending' } });
    await robo.comments.create({ storyId: 'WEB-1', body: 'In which language?', kind: 'question' });

    const page = await open(people.chloe.me.token, '/s/WEB-1');
    await page.getByRole('link', { name: 'Open run with its log' }).click();
    await page.getByRole('heading', { name: 'Run of Robo', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'WEB-1 Say good night' }).waitFor();
    await page.getByText('The greeting is there').waitFor();
    await page.getByText('src/greeting.ts').waitFor();
    await page.getByText('work/web-1-1').waitFor();
    await page.getByText('In which language?').waitFor();
    await page.getByRole('textbox', { name: 'Answer to Robo' }).fill('In Latin.');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('Chloé answered').waitFor();
    await page.locator('.prose').getByText('In Latin.').waitFor();
    await waitUntil(async () =>
      (await robo.deliveryExecutions.renew(held)).signals.some(({ kind }) => kind === 'new_comments'),
    );
    await robo.deliveryExecutions.renew({
      ...held,
      usage: { model: 'gpt-5', inputTokens: 4_200, cachedTokens: 100, outputTokens: 30, costMicros: 70_000 },
    });
    const evidence = page.getByRole('region', { name: 'Evidence' });
    await evidence.locator('input[type=file]').setInputFiles({
      ...{ name: 'junit.xml', mimeType: 'application/xml', buffer: junitReport([]) },
    });
    await evidence.getByText('12 tests · 6s').waitFor();
    const usage = page.getByRole('row', { name: 'gpt-5' }).getByRole('cell');
    expect(await usage.allInnerTexts()).toEqual(['$0.07', '4,200', '100', '30']);
    await page.getByRole('button', { name: 'Ask to stop WEB-1' }).waitFor();
    const lines = page.getByRole('log');
    await lines.getByText('test 200 passed').waitFor();
    // The log renders only lines that are visible.
    expect(await lines.locator('.run-log-line').count()).toBeLessThan(150);

    await log(201, 210);
    await robo.agents.runEvent({ ...run, kind: 'log', message: 'disk full', data: { stream: 'stderr' } });
    await lines.getByText('disk full').waitFor();
    // A reader who scrolls up by keys stays there, until the log is followed again.
    await lines.press('PageUp');
    await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor();
    // The browser scrolls in steps, and each step up ends the following.
    let lastTop = -1;
    await waitUntil(async () => {
      const before = lastTop;
      lastTop = await page.evaluate<number>(`document.querySelector('[role="log"]').scrollTop`);
      return lastTop === before;
    });
    await page.getByRole('button', { name: 'Follow', pressed: false }).click();
    await page.getByRole('button', { name: 'Follow', pressed: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search the log' }).fill('TEST 20');
    await page.getByText('11 of 211 lines').waitFor();
    await page.getByRole('searchbox', { name: 'Search the log' }).fill('');

    await robo.deliveryExecutions.complete({
      ...{ ...held, outcome: 'failed', failure: 'agent_error', summary: 'The disk is full.' },
    });
    await page.getByText('The agent failed, or its work did not pass the checks.').waitFor();
    await page.getByText('The disk is full.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Robo was asked to work on WEB-1 again').first().waitFor();
    // No runner listens for the agent, so the page shows the command that starts one.
    await page.getByText('No runner is listening for Robo').waitFor();
    await page.getByText('muster work --serve --project WEB').waitFor();
    await page.getByRole('link', { name: 'WEB-1 Say good night' }).click();
    const runs = page.getByRole('listitem').filter({ hasText: 'Robo' });
    await runs.getByText('Failed').waitFor();
    await runs.getByRole('link', { name: 'Open run of Robo' }).click();
    await page.getByRole('heading', { name: 'Run of Robo', level: 1 }).waitFor();
    const inbox = await robo.agents.inbox({ kinds: ['assigned'] });
    expect(inbox.items).toContainEqual(expect.objectContaining({ kind: 'assigned' }));
  });

  journey('starts an agent from a card: by its menu, until it runs, and leads to the run', async () => {
    const page = await open(people.chloe.me.token, '/p/WEB');
    const card = page.locator('[data-card]', { hasText: 'Say good night' });
    await card.focus();
    await page.keyboard.press('a');
    await page.getByRole('menu').getByText('Robo').click();
    await card.getByText('No runner is listening for Robo').waitFor();
    await card.getByText('muster work --serve --project WEB --agent claude').waitFor();
    const robo = house.client(people.robo.me.token);
    await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', runId: 'run-1', ttlSeconds: 3_600 },
    });
    await card.getByText('Picked up by Robo').waitFor();
    expect(await card.getByText('muster work').count()).toBe(0);
    await card.hover();
    await page.getByRole('button', { name: 'Actions for WEB-1' }).click();
    await page.getByRole('menu').getByText('Open run').click();
    await page.getByRole('heading', { name: 'Run of Robo', level: 1 }).waitFor();
  });
}
