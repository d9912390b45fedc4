/** Notifications over HTTP and across domains: operations emit events, and inboxes receive notifications. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Person } from '@muster/testing';
import { type ExampleOrg, createExampleOrg } from '@muster/examples';
import { useApi } from './api.ts';

const api = useApi();
const { world } = api;

let org: ExampleOrg;
beforeEach(async () => {
  org = await createExampleOrg(world);
  // Remove the notification of the example records.
  await world.rows('delete from notifications where org_id = $1', org.orgId);
});

const clientOf = (who: Person) => api.client(who.me.token);

/** Returns the inboxes of all members by name, newest first. */
async function readInboxes(): Promise<Record<string, string[]>> {
  const rows = await world.rows<{ name: string; titles: string[] }>(
    `select m.name, array_agg(n.kind || ': ' || n.title order by n.id desc) as titles
     from notifications n join members m on m.org_id = n.org_id and m.id = n.member_id
     where n.org_id = $1 group by m.name`,
    org.orgId,
  );
  return Object.fromEntries(rows.map(({ name, titles }) => [name, titles]));
}
const listJobs = () =>
  world.rows(`select 1 from outbox where org_id = $1 and topic = 'notification.deliver'`, org.orgId);

describe('the inbox', () => {
  it('follows a conversation: who is mentioned or asked, and who is answered', async () => {
    const { chloe, lead, looker, outsider } = org;
    const { comment } = await clientOf(chloe).comments.create({
      storyId: 'WEB-1',
      body: `@${lead.me.handle} @${outsider.me.handle} @chloe shall we?`,
      kind: 'question',
      directedTo: looker.me.memberId,
    });
    expect(await readInboxes()).toEqual({
      Lea: ['mention: Chloé mentioned you on WEB-1'],
      Vera: ['mention: Chloé has a question for you on WEB-1'],
    });
    await clientOf(lead).comments.create({ storyId: 'WEB-1', body: 'Yes.', parentId: comment.id });
    await clientOf(chloe).comments.update({
      commentId: comment.id,
      body: `@${lead.me.handle} @${org.contributor.me.handle} shall we?`,
    });
    expect(await readInboxes()).toEqual({
      Carl: ['mention: Chloé mentioned you on WEB-1'],
      Chloé: ['comment_reply: Lea replied on WEB-1'],
      Lea: ['mention: Chloé mentioned you on WEB-1'],
      Vera: ['mention: Chloé has a question for you on WEB-1'],
    });
    const { items } = await clientOf(looker).notifications.list();
    expect(items).toMatchObject([{ subject: { type: 'story', key: 'WEB-1' }, actor: { name: 'Chloé' } }]);
    expect(await clientOf(looker).notifications.markAllRead()).toEqual({ updated: 1, unread: 0 });
    // The three mentioned members also get an e-mail; a reply only appears in the inbox.
    expect(await listJobs()).toHaveLength(3);
  });

  it('follows work: who gets it, who reviews it, and what came of that', async () => {
    const { ana, chloe, contributor, lead, robo } = org;
    const { story } = await clientOf(ana).stories.create({ projectId: 'WEB', title: 'Passkeys' });
    const { key } = story;
    await clientOf(ana).assignments.set({
      targetType: 'story',
      targetId: story.id,
      memberId: contributor.me.memberId,
      agentId: robo.me.agentId,
    });
    expect(await readInboxes()).toEqual({
      Carl: [`assigned: Ana assigned ${key} to you`],
      Chloé: [`assigned: Ana assigned ${key} to your agent`],
    });
    await clientOf(contributor).reviewers.add({ storyId: story.id, memberId: lead.me.memberId });
    await clientOf(lead).reviewers.setVerdict({
      storyId: story.id,
      verdict: 'changes_requested',
      note: 'A test, please.',
    });
    expect(await readInboxes()).toEqual({
      Carl: [`review_verdict: Lea requested changes on ${key}`, `assigned: Ana assigned ${key} to you`],
      Chloé: [
        `review_verdict: Lea requested changes on ${key}`,
        `assigned: Ana assigned ${key} to your agent`,
      ],
      Lea: [`review_requested: Carl asked you to review ${key}`],
    });
    expect((await clientOf(chloe).notifications.list()).items[0]?.body).toBe('A test, please.');
  });

  it('follows who wants in: the leads, and then who asked', async () => {
    const { lead, outsider } = org;
    const { accessRequest } = await clientOf(outsider).projects.requestAccess({ projectId: 'WEB' });
    // A second access request of the same member causes no second notification.
    await clientOf(outsider).projects.requestAccess({ projectId: 'WEB' });
    const asks = 'access_requested: Olaf asks for access to WEB as contributor';
    const asked = await readInboxes();
    expect(asked['Lea']).toEqual([asks]);
    expect(asked['Carl']).toBeUndefined();
    await clientOf(lead).projects.accessRequests.resolve({
      accessRequestId: accessRequest.id,
      decision: 'deny',
    });
    expect((await readInboxes())['Olaf']).toEqual([
      'access_resolved: Lea denied you access to a project you asked for',
    ]);
    expect(JSON.stringify(await clientOf(outsider).notifications.list())).not.toContain('WEB');
  });

  it('follows a broadcast to those who may see the project', async () => {
    const { contributor, outsider } = org;
    const { recipients } = await clientOf(contributor).broadcasts.send({
      message: 'Freeze',
      projectId: 'WEB',
    });
    const told = await readInboxes();
    expect(Object.keys(told)).toHaveLength(recipients);
    expect(Object.keys(told)).toEqual(expect.arrayContaining(['Ana', 'Ben', 'Chloé', 'Lea', 'Vera']));
    for (const name of ['Carl', 'Olaf', 'Dan']) expect(told[name]).toBeUndefined();
    expect((await clientOf(outsider).broadcasts.list()).items.map((item) => item.message)).not.toContain(
      'Freeze',
    );
  });
});

describe('a call that changes nothing', () => {
  it('tells nobody: refused, repeated, or written by nobody', async () => {
    const { ana, chloe, lead } = org;
    const body = `@${lead.me.handle}`;
    // The handler refuses the first comment and the role check refuses the second one. The third one is
    // refused at the very end, because the project is archived.
    await expect(
      clientOf(chloe).comments.create({ storyId: 'WEB-1', body, parentId: newId() }),
    ).rejects.toMatchObject({ status: 404 });
    await expect(clientOf(org.dan).comments.create({ storyId: 'WEB-1', body })).rejects.toMatchObject({
      status: 404,
    });
    await world.rows(`update projects set archived_at = now() where org_id = $1 and key = 'WEB'`, org.orgId);
    await expect(clientOf(chloe).comments.create({ storyId: 'WEB-1', body })).rejects.toMatchObject({
      status: 422,
    });
    expect(await readInboxes()).toEqual({});

    await world.rows(`update projects set archived_at = null where org_id = $1`, org.orgId);
    const headers = { 'idempotency-key': newId() };
    for (let turn = 0; turn < 2; turn += 1) {
      await api.call(ana.me.token, 'comments.create', { storyId: 'WEB-1', body }, headers);
    }
    expect(await readInboxes()).toEqual({ Lea: ['mention: Ana mentioned you on WEB-1'] });
    expect(await listJobs()).toHaveLength(1);
  });
});
