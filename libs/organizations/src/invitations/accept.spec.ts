import { describe, expect, it } from '@jest/globals';
import { newId, type Pool } from '@muster/driver';
import { type GivenRole } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../index.ts';
import { acceptInvitation } from './accept.ts';
import { prepareInvitationMail } from './mail.ts';

const world = useWorld(organizationsHandlers);
const requestFacts = { requestId: 'spec', ip: '127.0.0.1', userAgent: 'spec' };
const baseUrl = 'https://muster.example';

const accept = (
  token: unknown,
  name: unknown = 'Noor',
  reactions: readonly EventReaction[] = [],
  pool?: Pool,
) => acceptInvitation(pool ?? world.database.app, { token, name }, requestFacts, reactions);
const mailOf = (orgId: string, invitationId: string) =>
  inOrganizationAsSystem(world.database.owner, orgId, (db) =>
    prepareInvitationMail(db, { orgId, invitationId, baseUrl }),
  );
const extractSecret = (link: string | undefined): string =>
  new URLSearchParams(new URL(link ?? '').hash.slice(1)).get('token') ?? '';

async function arrangeInvitation(
  { orgId, ana }: PeopleOf<typeof world>,
  what: { email?: string; role?: GivenRole; teamIds?: string[]; projectIds?: string[] } = {},
): Promise<{ id: string; secret: string }> {
  const { invitation } = await ana.members.invite({ email: 'noor@example.com', ...what });
  return { id: invitation.id, secret: extractSecret((await mailOf(orgId, invitation.id))?.link) };
}
const setSeatCount = (orgId: string, count: number) =>
  world.rows('update subscriptions set seats = $2 where org_id = $1', orgId, count);
const expireInvitation = (id: string) =>
  world.rows(
    `update invitations set expires_at = now() - interval '1 s', sent_at = now() - interval '7 days' where id = $1`,
    id,
  );
const refusedWith = (reason: string, status: number) => ({ status, details: { reason } });

describe('a policy that was tightened', () => {
  it('keeps out whom a pending invitation of another domain would let in, and sends it no more', async () => {
    const people = await world.org();
    const { ana } = people;
    const { id, secret } = await arrangeInvitation(people);
    await ana.policy.update({ allowedEmailDomains: ['elsewhere.example'] });
    await expect(accept(secret)).rejects.toMatchObject(refusedWith('policy', 422));
    await expect(ana.invitations.resend({ invitationId: id })).rejects.toMatchObject({
      status: 422,
      reason: 'policy',
    });
    await ana.policy.update({ allowedEmailDomains: ['example.com'] });
    expect((await accept(secret)).member.email).toBe('noor@example.com');
  });
});

describe('the e-mail of an invitation', () => {
  it('says who invites whom into what, until when, and has the secret that lets them in', async () => {
    const people = await world.org();
    const { invitation } = await people.ben.members.invite({ email: 'noor@example.com' });
    const mail = await mailOf(people.orgId, invitation.id);
    expect(mail).toMatchObject({ to: 'noor@example.com', subject: 'Ben invited you to Acme on Muster' });
    expect(mail?.link).toMatch(/^https:\/\/muster\.example\/invitations\/accept#token=inv_[0-9A-Za-z]{32}$/);
    expect((await accept(extractSecret(mail?.link))).member.email).toBe('noor@example.com');
  });

  it('has another secret each time, and only the newest counts', async () => {
    const people = await world.org();
    const { id, secret: first } = await arrangeInvitation(people);
    const second = extractSecret((await mailOf(people.orgId, id))?.link);
    await expect(accept(first)).rejects.toMatchObject({ status: 404 });
    expect((await accept(second)).member.name).toBe('Noor');
  });

  it('is not written for one that is not pending any more, nor for an organization that is gone', async () => {
    const people = await world.org();
    const { orgId, ana } = people;
    const expired = await arrangeInvitation(people);
    await expireInvitation(expired.id);
    const revoked = await arrangeInvitation(people, { email: 'elif@example.com' });
    await ana.invitations.revoke({ invitationId: revoked.id });
    const accepted = await arrangeInvitation(people, { email: 'dov@example.com' });
    await accept(accepted.secret, 'Dov');
    for (const { id } of [expired, revoked, accepted]) expect(await mailOf(orgId, id)).toBeNull();
    expect(await mailOf(orgId, newId())).toBeNull();
    const pending = await arrangeInvitation(people, { email: 'kim@example.com' });
    await world.rows('update orgs set deleted_at = now() where id = $1', orgId);
    expect(await mailOf(orgId, pending.id)).toBeNull();
  });

  it('is of its own organization', async () => {
    const [mine, theirs] = [await world.org(), await world.org()];
    const { id } = await arrangeInvitation(theirs);
    expect(await mailOf(mine.orgId, id)).toBeNull();
  });
});

describe('accepting an invitation', () => {
  it('makes a member with a token that works', async () => {
    const people = await world.org();
    const { id, secret } = await arrangeInvitation(people);
    const { member, apiToken } = await accept(secret, ' Noor  Ali ');
    expect(member).toMatchObject({
      email: 'noor@example.com',
      name: 'Noor  Ali',
      handle: 'noor-ali',
      role: 'member',
    });
    const [token] = await world.rows<{ name: string; scopes: string[]; member_id: string; days: number }>(
      `select name, scopes, member_id, extract(day from expires_at - created_at)::int as days
       from tokens where hash = sha256($1::bytea)`,
      Buffer.from(apiToken),
    );
    expect(token).toEqual({ name: 'invitation', scopes: ['write'], member_id: member.id, days: 365 });
    const [settled] = (await people.ana.invitations.list()).items;
    expect(settled).toMatchObject({ id, state: 'accepted', memberId: member.id, version: 2 });
  });

  it.each([
    ['admin', ['admin']],
    ['member', ['write']],
    ['viewer', ['write']],
  ] as const)('gives a new %s a token of scope %j', async (role, scopes) => {
    const { secret } = await arrangeInvitation(await world.org(), { role });
    const { member } = await accept(secret);
    expect(member.role).toBe(role);
    expect(await world.rows('select scopes from tokens where member_id = $1', member.id)).toEqual([
      { scopes },
    ]);
  });

  it.each([
    ['member', 'contributor'],
    ['viewer', 'viewer'],
  ] as const)('puts a new %s into the teams, and into the projects as %s', async (role, projectRole) => {
    const people = await world.org();
    const { orgId } = people;
    const [teamIds, projectIds] = [
      [newId(), newId()],
      [newId(), newId()],
    ];
    for (const [index, id] of teamIds.entries())
      await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, id, `T${index}`);
    for (const [index, id] of projectIds.entries())
      await world.rows(
        `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, 'P', 'private', 'hosted')`,
        orgId,
        id,
        `P${index}`,
      );
    const { secret } = await arrangeInvitation(people, { role, teamIds, projectIds });
    // Teams and projects that were deleted do not prevent the acceptance.
    await world.rows('delete from teams where id = $1', teamIds[1]);
    await world.rows('delete from projects where id = $1', projectIds[1]);
    const { member } = await accept(secret);
    expect(
      await world.rows('select team_id, role from team_members where member_id = $1', member.id),
    ).toEqual([{ team_id: teamIds[0], role: 'member' }]);
    expect(
      await world.rows('select project_id, role from project_members where member_id = $1', member.id),
    ).toEqual([{ project_id: projectIds[0], role: projectRole }]);
  });

  it('is told by the name and not by the address, and audited as what the new member did', async () => {
    const people = await world.org();
    const { id, secret } = await arrangeInvitation(people);
    const { member } = await accept(secret);
    const actor = { kind: 'member', memberId: member.id, agentId: null, name: 'Noor' };
    const [, told] = await world.rows(
      'select kind, actor, subject, data, project_id from activity where org_id = $1 order by seq',
      people.orgId,
    );
    expect(told).toEqual({
      kind: 'invitation.accepted',
      actor,
      subject: { type: 'invitation', id, key: null, title: 'Noor' },
      data: { memberId: member.id, invitedBy: people.ana.me.memberId },
      project_id: null,
    });
    expect(
      await world.rows(
        `select actor, target, outcome, request_id, token_id is not null as by_token from audit where org_id = $1 and operation = 'invitations.accept'`,
        people.orgId,
      ),
    ).toEqual([{ actor, target: id, outcome: 'allowed', request_id: 'spec', by_token: true }]);
  });

  it('lets what follows from events run in the same transaction', async () => {
    const people = await world.org();
    const { secret } = await arrangeInvitation(people);
    const seen: string[] = [];
    const refuses: EventReaction = async ({ actor, domainEvents }) => {
      seen.push(...domainEvents.map(({ kind }) => `${kind} ${actor.name}`));
      throw new Error('a reaction that fails');
    };
    await expect(accept(secret, 'Noor', [refuses])).rejects.toThrow('a reaction that fails');
    expect(seen).toEqual(['invitation.accepted Noor']);
    expect((await accept(secret)).member.name).toBe('Noor');
  });

  it('happens once, and says so afterwards', async () => {
    const people = await world.org();
    const { secret } = await arrangeInvitation(people);
    const outcomes = await world.runUnderContention(
      { table: 'subscriptions', id: people.orgId, column: 'org_id' },
      () => accept(secret, 'Noor'),
      () => accept(secret, 'Not Noor'),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(accept(secret)).rejects.toMatchObject({
      status: 409,
      details: { reason: 'already_resolved', state: 'accepted' },
    });
    const members = await world.rows(
      `select id from members where org_id = $1 and email = 'noor@example.com'`,
      people.orgId,
    );
    expect(members).toHaveLength(1);
  });

  it('is refused when it was taken back, is over, or was replaced', async () => {
    const people = await world.org();
    const { ana } = people;
    const revoked = await arrangeInvitation(people);
    await ana.invitations.revoke({ invitationId: revoked.id });
    await expect(accept(revoked.secret)).rejects.toMatchObject({
      status: 409,
      details: { reason: 'already_resolved', state: 'revoked' },
    });
    const expired = await arrangeInvitation(people, { email: 'elif@example.com' });
    await expireInvitation(expired.id);
    await expect(accept(expired.secret)).rejects.toMatchObject(refusedWith('expired', 422));
    await ana.invitations.resend({ invitationId: expired.id });
    await expect(accept(expired.secret)).rejects.toMatchObject({ status: 404 });
  });

  it('comes too late when its time runs out while it waits for its turn', async () => {
    const people = await world.org();
    const { id, secret } = await arrangeInvitation(people);
    const holder = await world.database.owner.connect();
    await holder.query('begin');
    await holder.query('select from subscriptions where org_id = $1 for update', [people.orgId]);
    const late = accept(secret);
    const settled = Promise.allSettled([late]);
    await world.waitUntilBlocked(1);
    // The invitation expires after the acceptance has begun. By the start time of its transaction the
    // invitation would still be valid.
    await world.rows(
      `update invitations set expires_at = date_trunc('milliseconds', clock_timestamp()) where id = $1`,
      id,
    );
    await holder.query('commit');
    holder.release();
    expect((await settled)[0]).toMatchObject({ status: 'rejected', reason: refusedWith('expired', 422) });
  });

  it('comes too late when it is sent again while it waits for its turn', async () => {
    const people = await world.org();
    const { id, secret } = await arrangeInvitation(people);
    const [accepted] = await world.runUnderContention<unknown>(
      { table: 'subscriptions', id: people.orgId, column: 'org_id' },
      () => accept(secret),
      async () => {
        await world.waitUntilBlocked(1);
        await world.rows('update invitations set token_hash = null where id = $1', id);
        // world.contend releases the row of subscriptions only when both calls wait for it. This statement
        // makes the second call wait.
        await world.rows('select from subscriptions where org_id = $1 for update', people.orgId);
      },
    );
    expect(accepted).toMatchObject({ status: 'rejected', reason: { status: 404 } });
  });

  it('needs the seat that it reserved, which operators may have taken back', async () => {
    const people = await world.org();
    const { secret } = await arrangeInvitation(people);
    const viewer = await arrangeInvitation(people, { email: 'dov@example.com', role: 'viewer' });
    await setSeatCount(people.orgId, 3);
    await expect(accept(secret)).rejects.toMatchObject({
      status: 422,
      details: { reason: 'seats_exhausted', purchased: 3, used: 3, pending: 1 },
    });
    expect((await accept(viewer.secret, 'Dov')).member.role).toBe('viewer');
    await setSeatCount(people.orgId, 4);
    expect((await accept(secret)).member.role).toBe('member');
  });

  it('is refused to somebody who became a member otherwise', async () => {
    const people = await world.org();
    const { secret } = await arrangeInvitation(people);
    await world.member(people.orgId, 'Noor', 'member');
    await expect(accept(secret)).rejects.toMatchObject(refusedWith('already_exists', 409));
  });

  it('knows no secret that was made up, nor one of an organization that is gone', async () => {
    const people = await world.org();
    const { secret } = await arrangeInvitation(people);
    for (const wrong of ['nonsense', 'inv_', `inv_${'0'.repeat(32)}`, `${secret}0`, people.ana.me.token])
      await expect(accept(wrong)).rejects.toMatchObject({ status: 404 });
    await world.rows('update orgs set deleted_at = now() where id = $1', people.orgId);
    await expect(accept(secret)).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['no body', undefined, undefined],
    ['no name', 'x', undefined],
    ['a blank name', 'x', '  '],
    ['a name of many lines', 'x', 'a\nb'],
    ['a name that is too long', 'x', 'a'.repeat(121)],
    ['no token', undefined, 'Noor'],
    ['an empty token', '', 'Noor'],
    ['a token that is no text', 7, 'Noor'],
  ])('takes nothing with %s', async (_what, token, name) => {
    await expect(
      acceptInvitation(world.database.app, { token, name }, requestFacts, []),
    ).rejects.toMatchObject({
      status: 400,
    });
  });
});
