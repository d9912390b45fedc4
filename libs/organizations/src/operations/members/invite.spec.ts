import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);

const seats = (orgId: string, count: number) =>
  world.rows('update subscriptions set seats = $2 where org_id = $1', orgId, count);
const expireInvitations = (orgId: string) =>
  world.rows(`update invitations set expires_at = now() - interval '1 s' where org_id = $1`, orgId);
const listEventKinds = async (orgId: string): Promise<string[]> =>
  (await world.rows<{ kind: string }>('select kind from activity where org_id = $1 order by seq', orgId)).map(
    ({ kind }) => kind,
  );
const listMails = (orgId: string) =>
  world.rows<{ payload: unknown }>(
    `select payload from outbox where org_id = $1 and topic = 'invitation.mail' order by id`,
    orgId,
  );
async function createTeam({ orgId }: PeopleOf<typeof world>, name = 'Web'): Promise<string> {
  const id = newId();
  await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, id, name);
  return id;
}
async function createProject({ orgId }: PeopleOf<typeof world>, key: string): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, 'P', 'private', 'hosted')`,
    orgId,
    id,
    key,
  );
  return id;
}

describe('members.invite', () => {
  it('writes an invitation that is good for a week, and has its e-mail sent', async () => {
    const people = await world.org();
    const { ben, orgId } = people;
    const [teamId, projectId] = [await createTeam(people), await createProject(people, 'WEB')];
    const { invitation } = await ben.members.invite({
      email: 'Noor@Example.com',
      role: 'viewer',
      teamIds: [teamId, teamId],
      projectIds: ['web', projectId],
    });
    expect(invitation).toMatchObject({
      email: 'Noor@Example.com',
      role: 'viewer',
      teamIds: [teamId],
      projectIds: [projectId],
      state: 'pending',
      invitedBy: { kind: 'member', memberId: ben.me.memberId, name: 'Ben' },
      memberId: null,
      version: 1,
    });
    expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).toBe(7 * 86_400_000);
    expect((await ben.invitations.list()).items).toEqual([invitation]);
    expect(await listMails(orgId)).toEqual([{ payload: { invitationId: invitation.id } }]);
    expect(await listEventKinds(orgId)).toEqual(['invitation.created']);
  });

  it('keeps the address from those who may only look', async () => {
    const { ben, orgId } = await world.org();
    await ben.members.invite({ email: 'noor@example.com' });
    const left = await world.rows('select subject, data from activity where org_id = $1', orgId);
    expect(left).toHaveLength(1);
    expect(JSON.stringify(left)).not.toContain('noor');
  });

  it('refuses the address of a member, and one that is invited, in any case', async () => {
    const { ben, orgId } = await world.org();
    const { invitation } = await ben.members.invite({ email: 'noor@example.com' });
    await expect(ben.members.invite({ email: 'Chloe@Example.com' })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'already_exists' } },
    });
    await expect(ben.members.invite({ email: 'NOOR@example.com', role: 'viewer' })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'already_exists', invitationId: invitation.id } },
    });
    expect(await listMails(orgId)).toHaveLength(1);
  });

  it('invites somebody who was removed, or whose invitation was taken back', async () => {
    const { ben, chloe, orgId } = await world.org();
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    const { invitation } = await ben.members.invite({ email: 'chloe@example.com' });
    await ben.invitations.revoke({ invitationId: invitation.id });
    const again = await ben.members.invite({ email: 'chloe@example.com' });
    expect(again.invitation.id).not.toBe(invitation.id);
  });

  it('renews an invitation that expired, as it is meant now', async () => {
    const people = await world.org();
    const { ana, ben, orgId } = people;
    const { invitation } = await ben.members.invite({
      email: 'noor@example.com',
      teamIds: [await createTeam(people)],
    });
    await expireInvitations(orgId);
    const renewed = await ana.members.invite({ email: 'Noor@example.com', role: 'admin' });
    expect(renewed.invitation).toMatchObject({
      id: invitation.id,
      email: 'Noor@example.com',
      role: 'admin',
      teamIds: [],
      state: 'pending',
      invitedBy: { name: 'Ana' },
      createdAt: invitation.createdAt,
      version: 2,
    });
    expect((await ben.invitations.list()).items).toEqual([renewed.invitation]);
    expect(await listEventKinds(orgId)).toEqual(['invitation.created', 'invitation.renewed']);
    expect(await listMails(orgId)).toHaveLength(2);
  });

  it('leaves it to the owner to invite an admin', async () => {
    const { ana, ben, orgId } = await world.org();
    await expect(ben.members.invite({ email: 'noor@example.com', role: 'admin' })).rejects.toMatchObject({
      status: 403,
      body: { details: { reason: 'role' } },
    });
    const denied = await world.rows(
      `select outcome, reason from audit where org_id = $1 and operation = 'members.invite'`,
      orgId,
    );
    expect(denied).toEqual([{ outcome: 'denied', reason: 'role' }]);
    expect((await ana.members.invite({ email: 'noor@example.com', role: 'admin' })).invitation.role).toBe(
      'admin',
    );
  });

  it('keeps to the domains that the policy allows', async () => {
    const { ben } = await world.org({ policy: { allowedEmailDomains: ['acme.example'] } });
    await expect(ben.members.invite({ email: 'noor@example.com' })).rejects.toMatchObject({
      status: 422,
      body: {
        details: { reason: 'policy', unmet: [{ gate: 'allowedEmailDomains', allowed: ['acme.example'] }] },
      },
    });
    expect((await ben.members.invite({ email: 'noor@ACME.example' })).invitation.state).toBe('pending');
  });

  it('reserves a seat until it expires, and needs none for a viewer', async () => {
    const { ben, orgId } = await world.org();
    await seats(orgId, 4);
    await ben.members.invite({ email: 'noor@example.com' });
    await expect(ben.members.invite({ email: 'elif@example.com' })).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'seats_exhausted', purchased: 4, used: 3, pending: 1 } },
    });
    await ben.members.invite({ email: 'viewer@example.com', role: 'viewer' });
    await expireInvitations(orgId);
    expect((await ben.members.invite({ email: 'elif@example.com' })).invitation.state).toBe('pending');
    // The expired invitation of Noor lost its seat to Elif.
    await expect(ben.members.invite({ email: 'noor@example.com' })).rejects.toMatchObject({
      body: { details: { reason: 'seats_exhausted' } },
    });
  });

  it('gives the last seat once', async () => {
    const { ana, ben, orgId } = await world.org();
    await seats(orgId, 4);
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: orgId, column: 'org_id' },
      () => ana.members.invite({ email: 'noor@example.com' }),
      () => ben.members.invite({ email: 'elif@example.com' }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
      body: { details: { reason: 'seats_exhausted' } },
    });
  });

  it('knows no team and no project that is not there or of another organization', async () => {
    const [mine, theirs] = [await world.org(), await world.org()];
    const foreign = { team: await createTeam(theirs), project: await createProject(theirs, 'WEB') };
    for (const into of [
      { teamIds: [newId()] },
      { teamIds: [foreign.team] },
      { teamIds: [await createTeam(mine), foreign.team] },
      { projectIds: [newId()] },
      { projectIds: [foreign.project] },
      { projectIds: ['WEB'] },
    ]) {
      await expect(mine.ben.members.invite({ email: 'noor@example.com', ...into })).rejects.toMatchObject({
        status: 404,
      });
    }
    expect(await listEventKinds(mine.orgId)).toEqual([]);
  });

  it('is not for a token that is bound to projects, also not into those', async () => {
    const people = await world.org();
    const web = await createProject(people, 'WEB');
    const bound = await world.token(people.orgId, people.ben.me.memberId, { projectIds: [web] });
    await expect(
      bound.members.invite({ email: 'noor@example.com', projectIds: [web] }),
    ).rejects.toMatchObject({ status: 403, reason: 'bound_token' });
    expect(await listEventKinds(people.orgId)).toEqual([]);
  });

  it.each(['noor', 'noor@', 'noor@example.com\nBcc: x@example.com', `${'x'.repeat(320)}@example.com`])(
    'takes no address like %j',
    async (email) => {
      const { ben } = await world.org();
      await expect(ben.members.invite({ email })).rejects.toMatchObject({ status: 400 });
    },
  );
});
