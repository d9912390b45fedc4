/**
 * A working day of a lead with five agents, from planning to the phone. Set DAY_PICTURES to a folder to keep a picture
 * of each step.
 */
import path from 'node:path';
import { beforeEach, expect } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People, waitUntil } from '@muster/testing';
import { type Page } from 'playwright-core';
import { journey } from './browser.ts';
import { attachFile } from './files.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

const agentNames = ['Ada', 'Bob', 'Cleo', 'Dot', 'Eve'] as const;
const dayTimeoutMs = 180_000;
const offlineMs = 60_000;

export function dayJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, {
      ...{
        backlog: ['Plan the launch', 'Write the terms'],
        ready: ['Take the first order'],
        in_progress: [],
      },
    });
  });
  const ana = (): Client => house.client(people.ana.me.token);
  /** The owner of the agents, whose work a lead may therefore approve. */
  const ben = (): Client => house.client(people.ben.me.token);
  const notice = (page: Page) => page.locator('.notice');
  const lane = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const undoButton = (page: Page) => page.getByRole('button', { name: 'Undo', exact: true });
  let step = 0;
  async function takePicture(page: Page, name: string): Promise<void> {
    step += 1;
    const folder = process.env['DAY_PICTURES'];
    if (folder !== undefined)
      await page.screenshot({ path: path.join(folder, `${String(step).padStart(2, '0')}-${name}.png`) });
  }

  /** Connects an agent, which takes the story and works on it. */
  async function startAgent(agentId: string, storyId: string) {
    const { secret } = await ben().tokens.create({ name: agentId, scopes: ['write'], agentId });
    const client = house.client(secret);
    const { execution, leaseToken } = await client.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyId, runId: `run-${storyId}`, ttlSeconds: 3_600, start: true },
    });
    return { client, storyId, executionId: execution.id, held: { executionId: execution.id, leaseToken } };
  }
  type WorkingAgent = Awaited<ReturnType<typeof startAgent>>;

  async function ask({ client, storyId, held }: WorkingAgent, body: string): Promise<void> {
    const { comment } = await client.comments.create({ storyId, body, kind: 'question' });
    await client.deliveryExecutions.update({ ...held, waitingFor: { questionId: comment.id } });
  }

  /** Continues after the answer, as agents do. */
  const resume = ({ client, held }: WorkingAgent) =>
    client.deliveryExecutions.update({ ...held, waitingFor: null });

  async function submitChange({ client, storyId, executionId, held }: WorkingAgent): Promise<void> {
    const headSha = storyId.replace('WEB-', '').padStart(40, 'a');
    await client.deliveryExecutions.update({ ...held, git: { branch: `work/${storyId}`, headSha } });
    const patch = `diff --git a/src/${storyId}.ts b/src/${storyId}.ts
index 1..2 100644
--- a/src/${storyId}.ts
+++ b/src/${storyId}.ts
@@ -1 +1,2 @@
 const story = '${storyId}';
+deliver(story);
`;
    await attachFile(house, client, {
      ...{ targetType: 'execution', targetId: executionId, kind: 'diff', headSha },
      ...{ name: 'changes.diff', contentType: 'text/x-diff', content: Buffer.from(patch) },
    });
    await client.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
    await ana().reviewers.add({ storyId, memberId: people.ana.me.memberId });
  }

  async function planInTimeline(page: Page): Promise<void> {
    await page.getByRole('link', { name: /WEB-1 Plan the launch/ }).focus();
    await page.keyboard.press('x');
    const bar = page.getByRole('toolbar', { name: 'All selected stories' });
    await bar.getByLabel('Due date').fill('2099-01-31');
    await bar.getByRole('button', { name: 'Set due date' }).click();
    await page.getByRole('link', { name: /WEB-1 Plan the launch .*Due Jan 31, 2099/ }).waitFor();
    await waitUntil(
      async () => (await ana().stories.get({ storyId: 'WEB-1' })).story.dueDate === '2099-01-31',
    );
    await takePicture(page, 'timeline');
  }

  async function importTwentyStories(page: Page): Promise<void> {
    await house.go(page, '/p/WEB/settings/import');
    const rows = Array.from({ length: 20 }, (_, nth) => `ENG-${nth + 1},Imported ${nth + 1},Todo`);
    await page.getByLabel('Source').selectOption('csv');
    await page.getByLabel('File').setInputFiles({
      ...{ name: 'table.csv', mimeType: 'text/csv' },
      buffer: Buffer.from(`Id,Title,Status\n${rows.join('\n')}\n`),
    });
    await takePicture(page, 'import-preview');
    await page.getByRole('button', { name: 'Import 20 stories' }).click();
    await page.getByRole('heading', { name: 'table.csv was imported' }).waitFor();
    await house.go(page, '/p/WEB');
    await lane(page, 'Ready').getByText('21', { exact: true }).waitFor();
    await takePicture(page, 'board-after-import');
  }

  /** Assigns the first imported stories, one to each agent. Returns the keys of these stories. */
  async function assignFiveAgents(page: Page): Promise<string[]> {
    const keys: string[] = [];
    for (const [nth, name] of agentNames.entries()) {
      const card = page
        .locator('[data-card]')
        .filter({ has: page.getByText(`Imported ${nth + 1}`, { exact: true }) });
      await card.focus();
      await page.keyboard.press('a');
      await page.getByRole('menu').getByText(name, { exact: true }).click();
      await card.getByText(`No runner is listening for ${name}`).waitFor();
      keys.push((await card.locator('.key').first().textContent()) ?? '');
    }
    await takePicture(page, 'five-agents');
    return keys;
  }

  async function answerQuestion(
    page: Page,
    storyId: string,
    agentName: string,
    answer: string,
  ): Promise<void> {
    await page.getByRole('link', { name: 'My work', exact: true }).click();
    await page.getByRole('link', { name: `Answer ${storyId}` }).click();
    const reply = page.getByRole('textbox', { name: `Reply to ${agentName}` });
    await reply.fill(answer);
    await takePicture(page, `question-${storyId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await page.locator('.prose').getByText(answer).waitFor();
    const { items } = await ana().comments.list({ storyId });
    expect(items.flatMap(({ replies }) => replies.map(({ body }) => body))).toEqual([answer]);
    await page.getByRole('link', { name: 'My work', exact: true }).click();
    const row = page.locator('.row', { hasText: storyId });
    await row.getByText('Answered, waits for the agent').waitFor();
    await row.getByRole('link', { name: `Open ${storyId}` }).waitFor();
  }

  async function reviewDiff(page: Page, storyId: string): Promise<void> {
    await page.getByRole('link', { name: 'My work', exact: true }).click();
    await page.getByRole('link', { name: `Review ${storyId}` }).click();
    const changes = page.getByRole('region', { name: 'Changes', exact: true });
    await changes.getByRole('button', { name: new RegExp(`src/${storyId}\\.ts`) }).click();
    await page
      .getByRole('region', { name: `Changes of src/${storyId}.ts` })
      .getByText('deliver(story);')
      .waitFor();
    await takePicture(page, `review-${storyId}`);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await changes.getByText('Approved head').waitFor();
    expect((await ana().reviewers.list({ storyId })).items).toMatchObject([{ verdict: 'approved' }]);
  }

  async function undoMistake(page: Page): Promise<void> {
    await house.go(page, '/p/WEB');
    const before = await lane(page, 'Backlog').locator('.card-title').allTextContents();
    expect(before).toEqual(['Plan the launch', 'Write the terms']);
    for (const title of before) {
      await page.getByRole('link', { name: title }).focus();
      await page.keyboard.press('x');
    }
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete', exact: true }).click();
    await notice(page).getByText('2 stories were deleted').waitFor();
    await takePicture(page, 'mistake');
    await undoButton(page).click();
    await waitUntil(
      async () =>
        (await lane(page, 'Backlog').locator('.card-title').allTextContents()).join() === before.join(),
    );
    await takePicture(page, 'mistake-undone');
  }

  async function workOffline(page: Page): Promise<void> {
    await house.go(page, '/s/WEB-1');
    await page.getByRole('heading', { name: 'Plan the launch', level: 1 }).waitFor();
    await page.getByRole('textbox', { name: 'Comment' }).waitFor();
    await page.clock.install();
    await page.context().setOffline(true);
    await page.locator('.wire[data-state="lost"]').waitFor();
    await page.getByRole('textbox', { name: 'Comment' }).fill('Written on the train.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByText('Your text is sent as soon as the connection is back').waitFor();
    for (let passedMs = 0; passedMs < offlineMs; passedMs += 5_000) await page.clock.fastForward(5_000);
    await takePicture(page, 'offline');
    expect((await ana().comments.list({ storyId: 'WEB-1' })).items).toEqual([]);
    expect(await page.locator('.notice[data-tone=bad]').count()).toBe(0);
    await page.context().setOffline(false);
    await page.locator('.said').getByText('Written on the train.').waitFor();
    expect((await ana().comments.list({ storyId: 'WEB-1' })).items.map(({ body }) => body)).toEqual([
      'Written on the train.',
    ]);
    await page.locator('.wire[data-state="live"]').waitFor();
  }

  async function endOnPhone(page: Page): Promise<void> {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox' }).click();
    await takePicture(page, 'phone-inbox');
    const markAll = page.getByRole('button', { name: 'Mark all as done' });
    if ((await ana().notifications.unreadCount()).unread > 0) await markAll.click();
    await waitUntil(async () => (await ana().notifications.unreadCount()).unread === 0);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'My work' }).click();
    await page.getByRole('heading', { name: 'My work' }).waitFor();
    await page.getByText('Waiting for you').waitFor({ state: 'detached' });
    await takePicture(page, 'phone-my-work');
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBe(0);
    expect(await page.getByRole('link', { name: /^(Answer|Review) / }).count()).toBe(0);
  }

  journey(
    'plans, imports, assigns, answers, reviews, undoes, works offline, and ends on the phone',
    async () => {
      step = 0;
      const agents = [];
      for (const name of agentNames) agents.push((await ben().agents.create({ name })).agent);
      const page = await open(people.ana.me.token, '/p/WEB?layout=timeline');
      await planInTimeline(page);
      await importTwentyStories(page);
      const keys = await assignFiveAgents(page);
      const working: WorkingAgent[] = [];
      for (const [nth, { id }] of agents.entries()) working.push(await startAgent(id, keys[nth] ?? ''));
      await lane(page, 'In progress').getByText('Picked up by Eve').waitFor();
      await takePicture(page, 'agents-at-work');
      for (const agent of working.slice(0, 2)) await ask(agent, 'In euros or in dollars?');
      await answerQuestion(page, keys[0] ?? '', 'Ada', 'In euros.');
      await answerQuestion(page, keys[1] ?? '', 'Bob', 'In dollars.');
      for (const agent of working.slice(0, 2)) await resume(agent);
      for (const agent of working.slice(2)) await submitChange(agent);
      for (const key of keys.slice(2)) await reviewDiff(page, key);
      await undoMistake(page);
      await workOffline(page);
      await endOnPhone(page);
      // The page has a clock of its own, so it is not used for another journey.
      await page.close();
    },
    dayTimeoutMs,
  );
}
