/** Tests offered work: those who may accept or take it can do so wherever it is shown. */
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { intercept, journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function offersJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
  });

  /** Releases the work at a checkpoint as Robo, and offers the rest. */
  async function offer(to: { toMemberId: string } | { toAgentId: string }): Promise<void> {
    const { deliveryExecutions } = house.client(people.robo.me.token);
    const { execution, leaseToken } = await deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', runId: 'run-1' },
    });
    const held = { executionId: execution.id, leaseToken };
    await deliveryExecutions.checkpoint({ ...held, summary: 'Half done' });
    await deliveryExecutions.handoff({ ...held, ...to, note: 'The rest is yours' });
  }
  const holder = async (): Promise<string | undefined> => {
    const { execution } = await house.client(people.ana.me.token).deliveryExecutions.getForTarget({
      ...{ targetType: 'story', targetId: 'WEB-1' },
    });
    return execution?.lease?.holder.name;
  };
  const buttons = /^(Accept|Claim|Take over|Hand off|Ask to stop|Release)/;

  journey('accepts what is offered to one, from what waits for one', async () => {
    await offer({ toMemberId: people.chloe.me.memberId });
    const page = await open(people.chloe.me.token, '/');
    const offered = page.getByRole('region', { name: 'Waiting for you' });
    await offered.getByText('The rest is yours').waitFor();
    await offered.getByText(/^\d+m left/).waitFor();
    // Disables the timer that removes a notice after 8 s, so that the notice also stays on a slow machine.
    await page.evaluate(`{
      const usual = setTimeout;
      globalThis.setTimeout = (run, delay, ...more) => (delay === 8_000 ? 0 : usual(run, delay, ...more));
      undefined;
    }`);
    await offered.getByRole('button', { name: 'Accept WEB-1' }).click();
    await page.locator('.notice', { hasText: 'You’re now working on WEB-1' }).waitFor();
    await offered.waitFor({ state: 'detached' });
    // A notice belongs to the page on which it appeared, and disappears when another one opens.
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
    expect(await holder()).toBe('Chloé');
    await page.getByText('1 unread').waitFor({ state: 'detached' });
  });

  journey('lets a lead take what is offered to another, and asks first', async () => {
    await offer({ toMemberId: people.chloe.me.memberId });
    const page = await open(people.ana.me.token, '/agents');
    await page.getByText(/^to Chloé · .+ left/).waitFor();
    await page.getByRole('button', { name: 'Claim WEB-1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Claim WEB-1?' });
    await dialog.getByText('It is reserved for Chloé').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await holder()).toBeUndefined();
    await page.getByRole('button', { name: 'Claim WEB-1' }).click();
    await dialog.getByRole('button', { name: 'Claim' }).click();
    await page.locator('.notice', { hasText: 'You’re now working on WEB-1' }).waitFor();
    await page.getByRole('button', { name: 'Release WEB-1' }).waitFor();
    expect(await holder()).toBe('Ana');
  });

  journey('shows an offer to an agent on its story, which a lead may take', async () => {
    await offer({ toAgentId: people.robo.me.agentId ?? '' });
    const page = await open(people.ana.me.token, '/s/WEB-1');
    await page.getByText(/^to Robo · .+ left/).waitFor();
    await page.getByRole('button', { name: 'Claim WEB-1' }).waitFor();
  });

  journey('says why an offer cannot be accepted any more', async () => {
    await offer({ toMemberId: people.chloe.me.memberId });
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    const accept = page.getByRole('button', { name: 'Accept WEB-1' });
    await accept.waitFor();
    // Someone else takes the work, and this page has not received the event yet.
    await intercept(page, '**/api/storyCollaboration/context', () => new Promise(() => undefined));
    await house.client(people.ana.me.token).deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', takeOver: true },
    });
    await accept.click();
    await page.locator('.notice', { hasText: 'Something went wrong' }).waitFor();
    expect(await holder()).toBe('Ana');
  });

  journey('offers nothing to those who may not: other contributors, and readers', async () => {
    await offer({ toMemberId: people.ana.me.memberId });
    const { tokens } = house.client(people.ana.me.token);
    const { secret } = await tokens.create({ name: 'Look', scopes: ['read'] });
    for (const token of [people.chloe.me.token, people.dan.me.token, secret]) {
      const page = await open(token, '/agents');
      for (const address of ['/agents', '/s/WEB-1']) {
        await house.go(page, address);
        await page.getByText(/^to (Ana|you) · .+ left/).waitFor();
        expect(await page.getByRole('button', { name: buttons }).count()).toBe(0);
      }
    }
  });
}
