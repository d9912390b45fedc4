/**
 * Fills an organization so that every page has content. Lists the texts that show that a page has loaded, one
 * per request of the page.
 */
import { type People } from '@muster/testing';
import { attachFile, junitReport, pictureOfColor } from './files.ts';
import { arrange, type House } from './house.ts';

/**
 * Inserts records one after the other, so that lists have a fixed order. Leases and locks last four hours.
 */
export async function furnish(house: House, people: People): Promise<void> {
  const ttlSeconds = 14_400;
  await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: ['Gamma'], in_progress: ['Delta'] });
  const chloe = house.client(people.chloe.me.token);
  await chloe.stories.update({
    ...{ storyId: 'WEB-1', labels: ['bug', 'auth'], priority: 'urgent', estimate: 3 },
    ...{ dueDate: '2026-01-31', touches: ['src/auth'] },
  });
  await chloe.comments.create({ storyId: 'WEB-1', body: 'Which **one**?', kind: 'question' });
  for (const word of ['small', 'large'])
    await chloe.storySpec.update({
      storyId: 'WEB-1',
      content: `# One\n\nIt is \`${word}\`.\n\n- [a](b)\n`,
    });
  const robo = house.client(people.robo.me.token);
  const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: 'WEB-4', runId: 'run-1', ttlSeconds },
  });
  const held = { executionId: execution.id, leaseToken };
  await robo.locks.acquire({ projectId: 'WEB', resources: ['src/auth/**', 'name:ports'], ttlSeconds });
  await chloe.locks.acquire({ projectId: 'WEB', resources: ['docs/**'], reason: 'Renaming', ttlSeconds });
  await robo.deliveryExecutions.checkpoint({
    ...{ ...held, summary: 'The form is there', filesTouched: ['docs/guide.md'] },
  });
  await robo.deliveryExecutions.renew({
    ...held,
    usage: { model: 'claude-sonnet-4', inputTokens: 48_000, outputTokens: 6_200, costMicros: 412_000 },
  });
  await robo.agents.runEvent({
    ...{ projectId: 'WEB', runId: 'run-1', kind: 'log', executionId: execution.id },
    lines: ['npm test', 'tests 12', 'pass 12'].map((message) => ({ message })),
  });
  await attachFile(house, robo, {
    ...{ targetType: 'execution', targetId: execution.id, name: 'junit.xml', kind: 'test_report' },
    ...{ contentType: 'application/xml', content: junitReport(['opens the form']) },
  });
  await attachFile(house, robo, {
    ...{ targetType: 'story', targetId: 'WEB-4', name: 'form.png', kind: 'screenshot' },
    ...{ contentType: 'image/png', content: pictureOfColor(40, 120, 110) },
  });
  const { comment } = await robo.comments.create({ storyId: 'WEB-4', body: 'Which?', kind: 'question' });
  await robo.deliveryExecutions.update({ ...held, waitingFor: { questionId: comment.id }, progress: 40 });
  await chloe.reviewers.add({ storyId: 'WEB-4', memberId: people.ana.me.memberId });
  const ana = house.client(people.ana.me.token);
  for (const [scope, amountMicros] of [
    ['org', 500_000],
    ['project', 20_000_000],
  ] as const)
    await ana.budgets.set({
      ...{ scope, amountMicros, period: 'month', action: 'stop' },
      ...(scope === 'project' && { targetId: 'WEB' }),
    });
  await ana.usage.prices.set({ model: 'house-model', inputMicros: 1_500_000, outputMicros: 6_000_000 });
  await ana.epics.create({ projectId: 'WEB', title: 'Sign up', targetDate: '2027-01-31' });
  await ana.stories.updateStatus({ storyId: 'WEB-3', status: 'done' });
  await ana.members.invite({ email: 'noor@example.com' });
  await ana.teams.create({ name: 'Mobile' });
  await ana.tokens.create({ name: 'Laptop', scopes: ['write'] });
  await ana.agents.create({ name: 'Claude' });
  await ana.webhooks.create({ url: 'https://hooks.acme.example/muster', kinds: ['story.created'] });
  await ana.prompts.org.upsert({ slug: 'review', title: 'Review a story', body: 'Read {{storyKey}}.' });
  await ana.contracts.publish({ projectId: 'WEB', slug: 'session-api', kind: 'markdown', content: 'One' });
}

export const pages = [
  ['/', 'Waiting for you'],
  ['/agents', 'Chloé has it locked'],
  ['/inbox', 'Action needed'],
  ['/activity', 'created'],
  ['/usage', 'Cost per landed story'],
  ['/runs/run-1', 'tests 12', 'The form is there', 'Your verdict'],
  ['/p/WEB', 'Delta'],
  ['/p/WEB?q=nothing', 'No matching stories'],
  ['/p/WEB?layout=list', 'Delta'],
  ['/p/WEB?layout=table&group=status', 'Delta'],
  ['/p/WEB?layout=timeline', 'Wave 1'],
  ['/p/WEB?group=priority', 'Delta'],
  ['/stories', 'All stories', 'Delta'],
  ['/p/NOPE', 'Not found'],
  ['/s/WEB-1', 'Which one?'],
  ['/s/WEB-1?from=1&to=2', 'Removed:'],
  ['/s/WEB-4', 'Ask to stop', 'form.png'],
  ['/audit', 'tokens.create'],
  ['/audit?outcome=denied', 'No matching entries'],
  ['/p/WEB/health', 'Lead time'],
  ['/p/WEB/locks', 'Renaming'],
  ['/p/WEB/epics', 'Sign up'],
  ['/p/WEB/waves', 'Wave 1', 'can start now'],
  ['/p/WEB/plans', 'No plans yet'],
  ['/p/WEB/apply-plan', 'Name of the plan'],
  ['/new-project', 'Create project'],
  ['/start', 'Create a project'],
  ['/connect-agent', 'Create agent and token'],
  ['/settings/members', 'noor@example.com'],
  ['/settings/teams', 'Mobile'],
  ['/settings/tokens', 'Laptop'],
  ['/settings/connections', 'No connected programs'],
  ['/settings/sessions', 'No browser sessions'],
  ['/settings/notifications', 'someone mentions you'],
  ['/settings/points', 'Show points'],
  ['/settings/budgets', 'of $20.00'],
  ['/settings/exports', 'No exports yet'],
  ['/settings/policy', 'When a column is at its limit'],
  ['/settings/prompts', 'Review a story'],
  ['/settings/webhooks', 'no deliveries yet'],
  ['/settings/providers', 'No identity providers yet'],
  ['/settings/provisioning', 'Not set up yet'],
  ['/settings/forges', 'No forges connected'],
  ['/settings/seats', 'Each additional seat'],
  ['/settings/general', 'Short name'],
  ['/p/WEB/settings/people', 'through the organization'],
  ['/p/WEB/settings/prompts', 'from the organization'],
  ['/p/WEB/settings/contracts', 'session-api'],
  ['/p/WEB/settings/budgets', 'of $20.00'],
  ['/p/WEB/settings/columns', '1 story'],
  ['/p/WEB/settings/webhooks', 'No webhooks yet'],
  ['/p/WEB/settings/forges', 'No linked repositories'],
  ['/p/WEB/settings/import', 'No imports yet'],
  ['/p/WEB/settings/deleted', 'No deleted stories'],
  ['/p/WEB/settings/exports', 'No exports yet'],
  ['/p/WEB/settings/general', 'Archive project'],
] as const;
