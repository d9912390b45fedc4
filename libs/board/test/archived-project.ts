/** A project with every kind of record, for specs of exports and imports. */
import { type People } from '@muster/testing';
import { type boardHandlers } from '../src/index.ts';
import { arrangeBoard } from './board.ts';

/** Fills a project with every kind of record that an archive has. */
export async function fillProject(
  world: Parameters<typeof arrangeBoard>[0],
  { ana, ben, chloe, robo, orgId }: People<typeof boardHandlers>,
): Promise<void> {
  const { columns } = await arrangeBoard(world, orgId);
  const [agentId, projectId] = [robo.me.agentId, 'WEB'];
  await ana.projects.update({ projectId, name: 'Website', description: 'What guests see' });
  await ana.boardColumns.update({ columnId: columns.ready, name: 'Next', wipLimit: 3 });
  const { column } = await ana.boardColumns.create({ projectId, name: 'Testing', status: 'in_review' });
  const { column: old } = await ana.boardColumns.create({ projectId, name: 'Old', status: 'ready' });
  await ana.boardColumns.archive({ columnId: old.id });
  await ana.projects.members.add({ projectId, memberId: ben.me.memberId, role: 'lead' });
  const { epic } = await ben.epics.create({
    ...{ projectId, title: 'Accounts', description: 'Who', color: '#336699', targetDate: '2027-01-02' },
  });
  const create = async (title: string, more: object = {}) =>
    (await chloe.stories.create({ projectId, title, ...more })).story;
  const first = await create('Sign in', {
    ...{ epicId: epic.id, priority: 'high', labels: ['auth'], estimate: 3, spec: '# One' },
    ...{ description: 'As a guest', touches: ['src/auth'], dueDate: '2027-02-03' },
  });
  const second = await create('Sign out', { blockedBy: [first.id], status: 'ready', spec: 'Out' });
  const third = await create('Session', { parentId: first.id });
  const gone = await create('Gone');
  await ana.stories.delete({ storyId: gone.id });
  const canceled = await create('Canceled');
  await ana.stories.updateStatus({ storyId: canceled.id, status: 'canceled' });
  await ana.stories.updateStatus({ storyId: third.id, status: 'done' });
  await ana.stories.reorder({ storyId: second.id, columnId: column.id });
  await ben.stories.updateUpstream({
    ...{ storyId: first.id, upstream: { provider: 'jira', externalId: 'OPS-7', state: 'open' } },
  });
  await ben.stories.update({
    storyId: second.id,
    blocked: { kind: 'needs_input', note: 'Ask', unblockerMemberId: ben.me.memberId },
  });
  await robo.storySpec.update({ storyId: first.id, content: '# Two\n\nMore', note: 'By mail' });
  await chloe.stories.updateGitMeta({
    storyId: first.id,
    git: { branch: 'sign-in', headSha: 'abc1234', checks: 'passing' },
  });
  const { comment } = await ben.comments.create({ storyId: first.id, body: 'Why @chloe?', kind: 'question' });
  await robo.comments.create({ storyId: first.id, body: 'Because', parentId: comment.id });
  await chloe.comments.react({ commentId: comment.id, emoji: '👍' });
  await ben.comments.resolve({ commentId: comment.id });
  const { comment: deleted } = await ana.comments.create({ storyId: second.id, body: 'Oops' });
  await ben.comments.create({ storyId: second.id, body: 'Indeed', parentId: deleted.id });
  await ana.comments.delete({ commentId: deleted.id });
  await ana.assignments.set({
    targetType: 'story',
    targetId: first.id,
    memberId: chloe.me.memberId,
    agentId,
  });
  await ana.assignments.set({ targetType: 'epic', targetId: epic.id, memberId: ben.me.memberId });
  for (const storyId of [first.id, second.id])
    await ana.reviewers.add({ storyId, memberId: ben.me.memberId });
  await ana.reviewers.add({ storyId: second.id, memberId: ana.me.memberId });
  await ben.reviewers.setVerdict({ storyId: first.id, verdict: 'approved' });
  await ben.reviewers.setVerdict({ storyId: second.id, verdict: 'changes_requested', note: 'No' });
  await chloe.storySpec.update({ storyId: second.id, content: 'Out again' });
  await ben.prompts.project.upsert({
    ...{ projectId, slug: 'start', title: 'Start', body: 'Read the spec.', tags: ['daily'] },
    arguments: [{ name: 'storyKey', required: true }],
  });
  await ana.prompts.project.upsert({ projectId, slug: 'start', title: 'Start', body: 'Read.' });
  const contract = { projectId, slug: 'users', kind: 'markdown' } as const;
  await ben.contracts.publish({ ...contract, content: '# One', storyId: first.id, note: 'First' });
  await robo.contracts.publish({ ...contract, content: '# Two', storyId: second.id });
  const assigneeId = [chloe.me.memberId, 'me', agentId ?? 'none'];
  await ben.views.create({
    ...{ projectId, name: 'Ready', layout: 'table', groupBy: 'epic', sort: 'dueDate', shared: true },
    ...{
      columns: ['title'],
      filter: { epicId: epic.id, columnId: column.id, assigneeId, agentId: robo.me.agentId ?? '' },
    },
  });
}
