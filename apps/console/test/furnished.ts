/** An organization in which every page has something to show, and texts by which each page is known to be there: of what comes by
 * a request of its own, one each. */
import { type People } from '@muster/testing';
import { arrange, type House } from './house.ts';

/** One after the other, so that lists have their order. Leases and locks last four hours. */
export async function furnish(house: House, people: People): Promise<void> {
  const ttlSeconds = 14_400;
  await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: ['Gamma'], in_progress: ['Delta'] });
  const chloe = house.client(people.chloe.me.token);
  await chloe.stories.update({ storyId: 'WEB-1', labels: ['bug', 'auth'], priority: 'urgent', estimate: 3 });
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
  const { comment } = await robo.comments.create({ storyId: 'WEB-4', body: 'Which?', kind: 'question' });
  await robo.deliveryExecutions.update({ ...held, waitingFor: { questionId: comment.id }, progress: 40 });
  await chloe.reviewers.add({ storyId: 'WEB-4', memberId: people.ana.me.memberId });
  const ana = house.client(people.ana.me.token);
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
  ['/', 'Waits for an answer'],
  ['/agents', 'Renaming', 'Chloé has it locked'],
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
  ['/new-project', 'Make the project'],
  ['/settings/members', 'noor@example.com'],
  ['/settings/teams', 'Mobile'],
  ['/settings/tokens', 'Laptop'],
  ['/settings/connections', 'No program is let in'],
  ['/settings/sessions', 'No browser is signed in'],
  ['/settings/notifications', 'someone mentions you'],
  ['/settings/policy', 'When a column is at its limit'],
  ['/settings/prompts', 'Review a story'],
  ['/settings/webhooks', 'nothing delivered yet'],
  ['/settings/providers', 'No identity provider yet'],
  ['/settings/forges', 'No forge is connected'],
  ['/settings/seats', 'each further one'],
  ['/settings/general', 'Short name'],
  ['/p/WEB/settings/people', 'by the organization'],
  ['/p/WEB/settings/prompts', 'of the organization'],
  ['/p/WEB/settings/contracts', 'session-api'],
  ['/p/WEB/settings/columns', '1 story'],
  ['/p/WEB/settings/webhooks', 'No webhook yet'],
  ['/p/WEB/settings/forges', 'No repository is linked'],
  ['/p/WEB/settings/import', 'Nothing was brought in yet'],
  ['/p/WEB/settings/general', 'Archive the project'],
] as const;
