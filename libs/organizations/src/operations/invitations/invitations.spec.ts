import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { invitationStates } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);

const seats = (orgId: string, count: number) =>
  world.rows('update subscriptions set seats = $2 where org_id = $1', orgId, count);

/** Creates an invitation in the given state, with a secret. */
async function invitation(
  { orgId, ana, ben }: PeopleOf<typeof world>,
  state: (typeof invitationStates)[number] = 'pending',
  {
    email = 'noor@example.com',
    role = 'member',
  }: { email?: string; role?: 'member' | 'viewer' | 'admin' } = {},
): Promise<string> {
  const { invitation: made } = await ana.members.invite({ email, role });
  if (state === 'revoked') await ben.invitations.revoke({ invitationId: made.id });
  await world.rows(
    `update invitations set token_hash = sha256(id::text::bytea), sent_at = now() - interval '1 hour',
       expires_at = case when $3 = 'expired' then now() - interval '1 s' else expires_at end,
       state = case when $3 = 'accepted' then 'accepted' else state end,
       member_id = case when $3 = 'accepted' then $4::uuid end
     where org_id = $1 and id = $2`,
    orgId,
    made.id,
    state,
    ben.me.memberId,
  );
  return made.id;
}
const secretOf = async (id: string): Promise<unknown> =>
  (await world.rows<{ token_hash: unknown }>('select token_hash from invitations where id = $1', id))[0]
    ?.token_hash;
const mailsOf = async (id: string): Promise<number> =>
  (
    await world.rows(
      `select from outbox where topic = 'invitation.mail' and payload ->> 'invitationId' = $1`,
      id,
    )
  ).length;

describe('invitations.list', () => {
  it('answers newest first, in the states as they are now', async () => {
    const people = await world.org();
    const ids: string[] = [];
    for (const state of invitationStates)
      ids.unshift(await invitation(people, state, { email: `${state}@example.com` }));
    const { items, nextCursor } = await people.ben.invitations.list();
    expect(items.map(({ id }) => id)).toEqual(ids);
    expect(items.map(({ state }) => state)).toEqual([...invitationStates].reverse());
    expect(nextCursor).toBeNull();
    for (const state of invitationStates) {
      const found = (await people.ben.invitations.list({ state })).items;
      expect(found.map(({ email }) => email)).toEqual([`${state}@example.com`]);
    }
  });

  it('goes on where the page before ended', async () => {
    const people = await world.org();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1)
      ids.unshift(await invitation(people, 'pending', { email: `n${count}@example.com` }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await people.ben.invitations.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(ids);
  });

  it('shows nobody the secret, nor what it hashes to', async () => {
    const people = await world.org();
    await invitation(people);
    const { items } = await people.ben.invitations.list();
    expect(JSON.stringify(items)).not.toMatch(/token|hash|secret/i);
  });

  it('is of one organization', async () => {
    const [mine, theirs] = [await world.org(), await world.org()];
    await invitation(theirs);
    expect((await mine.ben.invitations.list()).items).toEqual([]);
  });
});

describe('invitations.resend', () => {
  it.each(['pending', 'expired'] as const)(
    'renews one that is %s: another week, another secret',
    async (state) => {
      const people = await world.org();
      const id = await invitation(people, state);
      const [before] = (await people.ben.invitations.list()).items;
      const { invitation: sent } = await people.ben.invitations.resend({ invitationId: id });
      expect(sent).toMatchObject({ id, state: 'pending', version: 2, createdAt: before?.createdAt });
      expect(Date.parse(sent.expiresAt) - Date.parse(sent.updatedAt)).toBe(7 * 86_400_000);
      expect((await people.ben.invitations.list()).items).toEqual([sent]);
      // The earlier secret is invalid while the next mail is on its way.
      expect(await secretOf(id)).toBeNull();
      expect(await mailsOf(id)).toBe(2);
    },
  );

  it.each(['accepted', 'revoked'] as const)('refuses one that was %s', async (state) => {
    const people = await world.org();
    const id = await invitation(people, state);
    await expect(people.ben.invitations.resend({ invitationId: id })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'already_resolved', state } },
    });
    expect(await mailsOf(id)).toBe(1);
  });

  it('takes a seat for one that expired, and none for one that has it', async () => {
    const people = await world.org();
    const { ben, orgId } = people;
    const expired = await invitation(people, 'expired');
    const pending = await invitation(people, 'pending', { email: 'elif@example.com' });
    const viewer = await invitation(people, 'expired', { email: 'dov@example.com', role: 'viewer' });
    await seats(orgId, 4);
    expect((await ben.invitations.resend({ invitationId: pending })).invitation.state).toBe('pending');
    expect((await ben.invitations.resend({ invitationId: viewer })).invitation.state).toBe('pending');
    await expect(ben.invitations.resend({ invitationId: expired })).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'seats_exhausted', purchased: 4, used: 3, pending: 1 } },
    });
    await seats(orgId, 5);
    expect((await ben.invitations.resend({ invitationId: expired })).invitation.state).toBe('pending');
  });

  it('gives the last seat to one of two that expired', async () => {
    const people = await world.org();
    const ids = [
      await invitation(people, 'expired'),
      await invitation(people, 'expired', { email: 'elif@example.com' }),
    ];
    await seats(people.orgId, 4);
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      ...ids.map((invitationId) => () => people.ben.invitations.resend({ invitationId })),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('writes to one address once more at once, then at most every ten minutes, and five times more in a week', async () => {
    const people = await world.org();
    const { invitation: made } = await people.ana.members.invite({
      email: 'noor@example.com',
      role: 'viewer',
    });
    const again = () => people.ben.invitations.resend({ invitationId: made.id });
    const passTime = (minutes: number) =>
      world.rows(
        'update invitations set sent_at = sent_at - make_interval(mins => $2) where org_id = $1',
        people.orgId,
        minutes,
      );
    const refused = { status: 422, body: { details: { reason: 'limit_exceeded', max: 6 } } };
    await again();
    await expect(again()).rejects.toMatchObject(refused);
    for (let n = 2; n <= 5; n += 1) {
      await passTime(10);
      await again();
      await expect(again()).rejects.toMatchObject(refused);
    }
    await passTime(60);
    await expect(again()).rejects.toMatchObject({
      body: { details: { retryAt: expect.stringMatching(/Z$/), retryable: true } },
    });
    // Another invitation to the same address does not bypass the limit.
    await people.ana.invitations.revoke({ invitationId: made.id });
    await expect(
      people.ana.members.invite({ email: 'NOOR@example.com', role: 'viewer' }),
    ).rejects.toMatchObject(refused);
    expect(await mailsOf(made.id)).toBe(6);
    await passTime(7 * 24 * 60);
    await people.ana.members.invite({ email: 'noor@example.com', role: 'viewer' });
  });

  it('leaves an invitation to be admin to the owner', async () => {
    const people = await world.org();
    const id = await invitation(people, 'expired', { role: 'admin' });
    await expect(people.ben.invitations.resend({ invitationId: id })).rejects.toMatchObject({ status: 403 });
    expect((await people.ana.invitations.resend({ invitationId: id })).invitation.state).toBe('pending');
  });

  it('knows none of another organization', async () => {
    const [mine, theirs] = [await world.org(), await world.org()];
    for (const invitationId of [newId(), await invitation(theirs)]) {
      await expect(mine.ana.invitations.resend({ invitationId })).rejects.toMatchObject({ status: 404 });
      await expect(mine.ana.invitations.revoke({ invitationId })).rejects.toMatchObject({ status: 404 });
    }
  });
});

describe('invitations.revoke', () => {
  it('takes it back, and its seat is free at once', async () => {
    const people = await world.org();
    const { ben, orgId } = people;
    await seats(orgId, 4);
    const id = await invitation(people);
    const { invitation: revoked } = await ben.invitations.revoke({ invitationId: id });
    expect(revoked).toMatchObject({ id, state: 'revoked', version: 2, memberId: null });
    expect((await ben.invitations.list()).items).toEqual([revoked]);
    expect((await ben.members.invite({ email: 'elif@example.com' })).invitation.state).toBe('pending');
  });

  it.each(['expired', 'accepted', 'revoked'] as const)('refuses one that is %s', async (state) => {
    const people = await world.org();
    const id = await invitation(people, state);
    await expect(people.ben.invitations.revoke({ invitationId: id })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'already_resolved', state } },
    });
  });

  it('happens once when two do it', async () => {
    const people = await world.org();
    const id = await invitation(people);
    const outcomes = await world.runUnderContention(
      { table: 'invitations', id },
      () => people.ana.invitations.revoke({ invitationId: id }),
      () => people.ben.invitations.revoke({ invitationId: id }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
