import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { inInvitingOrganization } from './organization.ts';

const world = useWorld({});
const pool = () => world.database.app;

async function createInvitation(orgId: string, state: 'pending' | 'revoked' = 'pending'): Promise<Buffer> {
  const hash = createHash('sha256').update(randomBytes(16)).digest();
  await world.rows(
    `insert into invitations (org_id, id, email, role, state, token_hash, invited_by, expires_at)
     values ($1, $2::uuid, ($2::uuid)::text || '@example.com', 'member', $3, $4, '{}', now())`,
    orgId,
    newId(),
    state,
    hash,
  );
  return hash;
}

describe('the door for an invitation', () => {
  it.each(['pending', 'revoked'] as const)('opens its organization, and no other: %s', async (state) => {
    const [mine] = [await world.org(), await world.org()];
    const hash = await createInvitation(mine.orgId, state);
    const seen = await inInvitingOrganization(pool(), hash, async (session) => {
      const [entry, orgs] = await Promise.all([
        session.entry(),
        session.all(sql<{ org_id: string }>`select distinct org_id from members`),
      ]);
      return { entry, orgs };
    });
    expect(seen.entry).toMatchObject({ orgId: mine.orgId, at: expect.stringMatching(/Z$/) });
    expect(seen.orgs).toEqual([{ org_id: mine.orgId }]);
  });

  it('stays shut for a hash that no invitation has, and where the organization is gone', async () => {
    const { orgId } = await world.org();
    const hash = await createInvitation(orgId);
    await world.rows('update orgs set deleted_at = now() where id = $1', orgId);
    for (const wrong of [hash, randomBytes(32)]) {
      let went = false;
      const attempt = inInvitingOrganization(pool(), wrong, async (session) => {
        await session.entry();
        went = true;
      });
      await expect(attempt).rejects.toMatchObject({ name: 'BurstError', sqlState: 'MU404' });
      expect(went).toBe(false);
    }
  });

  it('keeps what is done behind it, or nothing of it', async () => {
    const { orgId } = await world.org();
    const hash = await createInvitation(orgId);
    const rename = (name: string) => sql`update orgs set name = ${name} where id = ${orgId}`;
    await inInvitingOrganization(pool(), hash, async (session) => {
      session.deferToCommit(rename('Kept'));
    });
    const failing = inInvitingOrganization(pool(), hash, async (session) => {
      await session.all(rename('Lost'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await world.rows('select name from orgs where id = $1', orgId)).toEqual([{ name: 'Kept' }]);
  });
});
