import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newId, currentOrgId, sql } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { inOperatorTransaction } from './operator.ts';
import { inInvitingOrganization, inOrganization } from './organization.ts';
import { acrossOrganizations, inOrganizationAsSystem } from './system.ts';

describe('the organization of a statement', () => {
  const world = useWorld({});
  const named = sql<{ id: string }>`select ${currentOrgId}::uuid as id`;

  it('is the one of the transaction in which it is sent', async () => {
    const { ana, orgId } = await world.org();
    const visit = {
      effect: 'write' as const,
      tokenHash: createHash('sha256').update(ana.me.token).digest(),
      cachedRights: null,
      requiredOrgRank: 1,
      target: null,
      claim: null,
    };
    const asNamed = { id: orgId };
    const pool = world.database.app;
    expect(await inOrganization(pool, { ...visit, orgId }, (db) => db.one(named))).toEqual(asNamed);
    expect(await inOrganizationAsSystem(world.database.owner, orgId, (db) => db.one(named))).toEqual(asNamed);
    expect(
      await inOperatorTransaction(world.database.owner, (_db, within) => within(orgId).one(named)),
    ).toEqual(asNamed);
    // Statements name the organization of the authenticated token, but row-level security uses the
    // organization that the database finds for the token. Here the named organization is wrong, and row-level
    // security still applies the correct one.
    const other = newId();
    const seen = await inOrganization(pool, { ...visit, orgId: other }, async (db) => ({
      named: await db.one(named),
      shown: await db.one(sql`select count(*) from members`),
    }));
    expect(seen).toEqual({ named: { id: other }, shown: { count: 4 } });
  });

  it('is, by an invitation, the one that the entry found, and none before', async () => {
    const { orgId, ana } = await world.org();
    const secretHash = createHash('sha256').update('an invitation').digest();
    await world.rows(
      `insert into invitations (org_id, id, email, role, token_hash, invited_by, expires_at)
       values ($1, $2, 'eve@example.com', 'member', $3, $4, now() + interval '1 day')`,
      ...[orgId, newId(), secretHash, JSON.stringify({ kind: 'member', memberId: ana.me.memberId })],
    );
    const pool = world.database.app;
    const after = inInvitingOrganization(pool, secretHash, async (db) => {
      await db.entry();
      return db.one(named);
    });
    expect(await after).toEqual({ id: orgId });
    await expect(inInvitingOrganization(pool, secretHash, (db) => db.one(named))).rejects.toThrow(
      'refers to the organization of its transaction, which has no organization',
    );
  });

  it('is a fault where there is none, also for what goes out later', async () => {
    const fault = 'refers to the organization of its transaction, which has no organization';
    const { owner } = world.database;
    await expect(acrossOrganizations(owner, (db) => db.all(named))).rejects.toThrow(fault);
    await expect(inOperatorTransaction(owner, (db) => db.all(named))).rejects.toThrow(fault);
    await expect(inOperatorTransaction(owner, async (db) => db.deferToCommit(named))).rejects.toThrow(fault);
  });
});
