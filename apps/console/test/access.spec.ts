/** Every page in both themes and three widths, for those who do not see, or see little, or use no mouse. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { type AxeResults } from 'axe-core';
import { type Page } from 'playwright-core';
import { type Client } from '@muster/client';
import { journey } from './browser.ts';
import { arrange, useHouse } from './house.ts';

const house = useHouse();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What breaks WCAG 2.2 AA: the rule, and on what. */
async function brokenRules(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** Nothing is cut off or to be scrolled to sideways, but for the columns of a board. */
const overhang = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

journey.each(['light', 'dark'] as const)(
  'breaks no rule of WCAG 2.2 AA on any page in the %s theme, at 1440 and 320 px',
  async (colorScheme) => {
    const people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: ['Gamma'], in_progress: ['Delta'] });
    const chloe = house.client(people.chloe.me.token);
    await chloe.stories.update({
      storyId: 'WEB-1',
      labels: ['bug', 'auth'],
      priority: 'urgent',
      estimate: 3,
    });
    await chloe.comments.create({ storyId: 'WEB-1', body: 'Which **one**?', kind: 'question' });
    await chloe.storySpec.update({ storyId: 'WEB-1', content: '# One\n\nIt is `small`.\n\n- [a](b)\n' });
    await chloe.storySpec.update({ storyId: 'WEB-1', content: '# One\n\nIt is `large`.\n\n- [a](b)\n' });
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-4', runId: 'run-1' },
    });
    const held = { executionId: execution.id, leaseToken };
    await robo.deliveryExecutions.checkpoint({ ...held, summary: 'The form is there' });
    const { comment } = await robo.comments.create({ storyId: 'WEB-4', body: 'Which?', kind: 'question' });
    await robo.deliveryExecutions.update({ ...held, waitingFor: { questionId: comment.id }, progress: 40 });
    await chloe.reviewers.add({ storyId: 'WEB-4', memberId: people.ana.me.memberId });
    await furnish(house.client(people.ana.me.token));
    for (const [width, height] of [
      [1440, 900],
      [320, 640],
    ] as const) {
      const options = { colorScheme, viewport: { width, height } };
      const gate = await house.visit('/', options);
      await gate.page.getByLabel('Token').waitFor();
      await gate.page.evaluate(axe);
      expect([await brokenRules(gate.page), await overhang(gate.page)]).toEqual([[], 0]);
      await gate.close();
      const window = await house.open(people.ana.me.token, '/p/WEB', options);
      const { page, faults } = window;
      await page.evaluate(axe);
      for (const [address, sign] of pages) {
        await house.go(page, address);
        await page.locator('main').getByText(sign).first().waitFor();
        const seen = {
          address,
          width,
          // What a rule says of colour does not change with the width.
          broken: width === 320 && colorScheme === 'dark' ? [] : await brokenRules(page),
          overhang: await overhang(page),
          faults,
        };
        expect(seen).toEqual({ address, width, broken: [], overhang: 0, faults: [] });
      }
      if (width === 1440) {
        await house.go(page, '/s/WEB-1');
        await page.getByRole('button', { name: 'Edit', exact: true }).click();
        await page.getByRole('textbox', { name: 'Spec, in Markdown' }).waitFor();
        expect(await brokenRules(page)).toEqual([]);
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('button', { name: 'By lines' }).click();
        await page.getByRole('button', { name: 'Comment on line 1' }).click();
        expect(await brokenRules(page)).toEqual([]);
      }
      await window.close();
    }
  },
);

/** What settings have to show. */
async function furnish(ana: Client): Promise<void> {
  await Promise.all([
    ana.epics.create({ projectId: 'WEB', title: 'Sign up', targetDate: '2027-01-31' }),
    ana.stories.updateStatus({ storyId: 'WEB-3', status: 'done' }),
    ana.members.invite({ email: 'noor@example.com' }),
    ana.teams.create({ name: 'Mobile' }),
    ana.tokens.create({ name: 'Laptop', scopes: ['write'] }),
    ana.agents.create({ name: 'Claude' }),
    ana.webhooks.create({ url: 'https://hooks.acme.example/muster', kinds: ['story.created'] }),
    ana.prompts.org.upsert({ slug: 'review', title: 'Review a story', body: 'Read {{storyKey}}.' }),
    ana.contracts.publish({ projectId: 'WEB', slug: 'session-api', kind: 'markdown', content: 'One' }),
  ]);
}

/** Each page with a text by which it is known to be there. */
const pages = [
  ['/', 'Waits for an answer'],
  ['/agents', 'The form is there'],
  ['/inbox', 'Needs you'],
  ['/activity', 'created'],
  ['/p/WEB', 'Delta'],
  ['/p/WEB?q=nothing', 'Nothing fits'],
  ['/p/NOPE', 'Not found'],
  ['/s/WEB-1', 'Which one?'],
  ['/s/WEB-1?from=1&to=2', 'Removed:'],
  ['/s/WEB-4', 'Ask to stop'],
  ['/audit', 'tokens.create'],
  ['/audit?outcome=denied', 'Nothing fits'],
  ['/p/WEB/health', 'Nine of ten took at most'],
  ['/p/WEB/epics', 'Sign up'],
  ['/settings/members', 'noor@example.com'],
  ['/settings/teams', 'Mobile'],
  ['/settings/tokens', 'Laptop'],
  ['/settings/sessions', 'No browser is signed in'],
  ['/settings/policy', 'Limits of columns'],
  ['/settings/prompts', 'Review a story'],
  ['/settings/webhooks', 'nothing delivered yet'],
  ['/settings/forges', 'No forge is connected'],
  ['/settings/seats', 'each further one'],
  ['/settings/general', 'Short name'],
  ['/p/WEB/settings/people', 'by the organization'],
  ['/p/WEB/settings/contracts', 'session-api'],
  ['/p/WEB/settings/columns', '1 story'],
  ['/p/WEB/settings/general', 'Archive the project'],
] as const;
