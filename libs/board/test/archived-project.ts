/** A project with every kind of record, for specs of exports and imports. */
import { type People } from '@muster/testing';
import { type boardHandlers } from '../src/index.ts';
import { arrangeBoard } from './board.ts';
import { arrangeTeam } from './team.ts';

/** Adds the records of the organization that an archive has. */
async function arrangeOrganization(
  world: Parameters<typeof arrangeBoard>[0],
  { ana, ben, chloe, orgId }: Pick<People<typeof boardHandlers>, 'ana' | 'ben' | 'chloe' | 'orgId'>,
  epicId: string,
): Promise<void> {
  const teamId = await arrangeTeam(world, orgId, { name: 'Mobile', members: [ben, chloe] });
  await arrangeTeam(world, orgId, { name: 'Empty' });
  await world.rows(
    `update team_members set role = 'lead' where org_id = $1 and member_id = $2`,
    ...[orgId, ben.me.memberId],
  );
  await ana.projects.assignTeam({ projectId: 'WEB', teamId, role: 'contributor' });
  await world.rows(
    `insert into agents (org_id, id, member_id, name, slug, created_at, retired_at) values
       ($1, gen_random_uuid(), $2, 'Scout', 'scout', '2026-01-02', null),
       ($1, gen_random_uuid(), $2, 'Old', 'old', '2026-01-02', '2026-02-03')`,
    ...[orgId, ben.me.memberId],
  );
  for (const slug of ['start', 'review'])
    await ana.prompts.org.upsert({ slug, title: slug, body: 'Of all projects.', tags: ['all'] });
  await ana.views.create({ name: 'Everything', layout: 'list', shared: true, filter: { priority: 'high' } });
  await ana.views.create({ name: 'Accounts', layout: 'board', shared: true, filter: { epicId } });
}

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
  await arrangeOrganization(world, { ana, ben, chloe, orgId }, epic.id);
  const assigneeId = [chloe.me.memberId, 'me', agentId ?? 'none'];
  await ben.views.create({
    ...{ projectId, name: 'Ready', layout: 'table', groupBy: 'epic', sort: 'dueDate', shared: true },
    ...{
      columns: ['title'],
      filter: { epicId: epic.id, columnId: column.id, assigneeId, agentId: robo.me.agentId ?? '' },
    },
  });
}
