import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown; subject: { key: string } }>(
    'select kind, data, subject from activity where org_id = $1 order by seq',
    orgId,
  );
const auditOf = (orgId: string) =>
  world.rows('select operation, outcome, reason from audit where org_id = $1 order by seq', orgId);

describe('orgs.update', () => {
  it('changes what is given, clears what is null, and says which fields', async () => {
    const { orgId, slug, ben } = await world.org();
    const { org: before } = await ben.orgs.update({});
    expect(before).toMatchObject({ slug, name: 'Acme', description: null, version: 1 });
    expect((await ben.orgs.update({ name: 'Acme', slug })).org).toEqual(before);
    const wanted = { name: 'Acme Ltd.', slug: `${slug}-2`, description: 'Makers', expectedVersion: 1 };
    const { org } = await ben.orgs.update(wanted);
    expect(organizationsRegistry.orgs.update.result.parse({ org })).toEqual({ org });
    const { expectedVersion: _, ...fields } = wanted;
    expect(org).toEqual({ ...before, ...fields, version: 2, updatedAt: org.updatedAt });
    expect((await ben.session.identity()).org).toEqual(org);
    const { org: cleared } = await ben.orgs.update({ description: null });
    expect(cleared).toEqual({ ...org, description: null, version: 3, updatedAt: cleared.updatedAt });
    expect(await eventsOf(orgId)).toMatchObject([
      {
        kind: 'org.updated',
        data: { fields: ['name', 'slug', 'description'] },
        subject: { type: 'org', id: orgId, key: `${slug}-2` },
      },
      { kind: 'org.updated', data: { fields: ['description'] } },
    ]);
  });

  it('lets one of two with the same version through', async () => {
    const { orgId, ana, ben } = await world.org();
    const outcomes = await world.runUnderContention(
      { table: 'orgs', id: orgId },
      () => ana.orgs.update({ name: 'A', expectedVersion: 1 }),
      () => ben.orgs.update({ name: 'B', expectedVersion: 1 }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(ana.orgs.update({ expectedVersion: 1 })).rejects.toMatchObject({
      status: 409,
      reason: 'version_mismatch',
      body: { details: { currentVersion: 2 } },
    });
  });

  it('refuses the slug of any other organization of the installation', async () => {
    const { ana } = await world.org();
    const { slug } = await world.org();
    await expect(ana.orgs.update({ slug })).rejects.toMatchObject({ status: 409, reason: 'already_exists' });
    for (const bad of ['ab', 'Acme', 'a_b', 'x'.repeat(41), 'ä-acme']) {
      await expect(ana.orgs.update({ slug: bad })).rejects.toMatchObject({ status: 400 });
    }
  });

  it('is for admins, and a refusal is recorded', async () => {
    const { orgId, chloe } = await world.org();
    await expect(chloe.orgs.update({ name: 'x' })).rejects.toMatchObject({ status: 403 });
    expect(await auditOf(orgId)).toEqual([{ operation: 'orgs.update', outcome: 'denied', reason: 'role' }]);
  });
});

describe('orgs.transferOwnership', () => {
  const owners = async ({ orgId }: PeopleOf<typeof world>) =>
    (
      await world.rows<{ name: string }>(
        `select name from members where org_id = $1 and role = 'owner' and status = 'active'`,
        orgId,
      )
    ).map(({ name }) => name);

  it('makes the other one owner and the owner an admin', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { org } = await ana.session.identity();
    const answer = await ana.orgs.transferOwnership({ memberId: chloe.me.memberId });
    expect(organizationsRegistry.orgs.transferOwnership.result.parse(answer)).toEqual(answer);
    expect(answer).toMatchObject({
      org,
      previousOwner: { id: ana.me.memberId, role: 'admin', version: 2 },
      newOwner: { id: chloe.me.memberId, role: 'owner', version: 2 },
    });
    expect(await eventsOf(orgId)).toMatchObject([
      {
        kind: 'org.ownershipTransferred',
        data: { fromMemberId: ana.me.memberId, toMemberId: chloe.me.memberId },
      },
    ]);
    await expect(ana.orgs.transferOwnership({ memberId: ana.me.memberId })).rejects.toMatchObject({
      status: 403,
    });
    await chloe.orgs.transferOwnership({ memberId: ana.me.memberId });
    expect((await ana.session.identity()).member.role).toBe('owner');
  });

  it('changes nothing where the owner is named', async () => {
    const { orgId, ana } = await world.org();
    const { previousOwner, newOwner } = await ana.orgs.transferOwnership({ memberId: ana.me.memberId });
    expect([previousOwner, newOwner]).toMatchObject([{ role: 'owner', version: 1 }, previousOwner]);
    expect(await eventsOf(orgId)).toEqual([]);
  });

  it('is not for viewers, nor for who is gone, unknown or of another organization', async () => {
    const people = await world.org();
    const { ana, ben, chloe, dan } = people;
    const { ben: stranger } = await world.org();
    await expect(ana.orgs.transferOwnership({ memberId: dan.me.memberId })).rejects.toMatchObject({
      status: 422,
      reason: 'seat_required',
    });
    await ana.members.removeMember({ memberId: chloe.me.memberId });
    for (const memberId of [chloe.me.memberId, newId(), stranger.me.memberId]) {
      await expect(ana.orgs.transferOwnership({ memberId })).rejects.toMatchObject({ status: 404 });
    }
    await expect(ben.orgs.transferOwnership({ memberId: ben.me.memberId })).rejects.toMatchObject({
      status: 403,
    });
    expect(await owners(people)).toEqual(['Ana']);
  });

  it('happens once when it is asked for twice at once', async () => {
    const people = await world.org();
    const { ana, ben, chloe } = people;
    const outcomes = await world.runUnderContention(
      { table: 'members', id: ana.me.memberId },
      () => ana.orgs.transferOwnership({ memberId: ben.me.memberId }),
      () => ana.orgs.transferOwnership({ memberId: chloe.me.memberId }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(lost?.reason).toMatchObject({ status: 403, reason: 'role' });
    expect(await owners(people)).toHaveLength(1);
    expect((await eventsOf(people.orgId)).map(({ kind }) => kind)).toEqual(['org.ownershipTransferred']);
  });

  // The calls are listed in the order in which they wait, because Postgres grants row locks first come, first
  // served.
  const rivals: readonly [string, (people: PeopleOf<typeof world>) => Promise<unknown>][] = [
    [
      'the heir is made a viewer',
      ({ ana, chloe }) => ana.members.setRole({ memberId: chloe.me.memberId, role: 'viewer' }),
    ],
    ['the heir is removed', ({ ben, chloe }) => ben.members.removeMember({ memberId: chloe.me.memberId })],
    ['the heir leaves', ({ chloe }) => chloe.members.leave({})],
  ];

  it.each(rivals)('and %s: one of the two happens', async (_title, rival) => {
    for (const transferFirst of [true, false]) {
      const people = await world.org();
      const { ana, chloe } = people;
      const calls: (() => Promise<unknown>)[] = [
        () => ana.orgs.transferOwnership({ memberId: chloe.me.memberId }),
        () => rival(people),
      ];
      if (!transferFirst) calls.reverse();
      const outcomes = await world.runUnderContention({ table: 'members', id: chloe.me.memberId }, ...calls);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const [now] = await world.rows<{ role: string; status: string }>(
        'select role, status from members where org_id = $1 and id = $2',
        people.orgId,
        chloe.me.memberId,
      );
      const isOwner = now?.role === 'owner';
      expect(await owners(people)).toEqual([isOwner ? 'Chloé' : 'Ana']);
      const lost = outcomes.find((outcome) => outcome.status === 'rejected');
      expect(lost?.reason).toMatchObject(
        isOwner ? { status: 422, reason: 'owner_required' } : { status: expect.any(Number) },
      );
      if (isOwner) expect(now.status).toBe('active');
      else expect([404, 422]).toContain((lost?.reason as { status: number }).status);
    }
  });
});

describe('orgs.delete', () => {
  it('stops every token at once, and says until when what there was is kept', async () => {
    const people = await world.org();
    const { orgId, slug, ana, ben, chloe, dan, robo } = people;
    await ben.session.identity();
    const answer = await ana.orgs.delete({ confirmSlug: slug });
    expect(organizationsRegistry.orgs.delete.result.parse(answer)).toEqual(answer);
    const [org] = await world.rows<{ deleted_at: string }>(
      'select deleted_at from orgs where id = $1',
      orgId,
    );
    const days = (Date.parse(answer.purgeAfter) - Date.parse(org?.deleted_at ?? '')) / 86_400_000;
    expect([answer.deleted, days]).toEqual([true, 30]);
    for (const person of [ana, ben, chloe, dan, robo]) {
      await expect(person.session.identity()).rejects.toMatchObject({ status: 401 });
      await expect(person.members.leave({})).rejects.toMatchObject({ status: 401 });
    }
    expect(await eventsOf(orgId)).toMatchObject([
      { kind: 'org.deleted', data: { purgeAfter: answer.purgeAfter } },
    ]);
    expect(await auditOf(orgId)).toEqual([{ operation: 'orgs.delete', outcome: 'allowed', reason: null }]);
  });

  it('wants the slug exactly as it is, and the owner', async () => {
    const { orgId, slug, ana, ben } = await world.org();
    for (const confirmSlug of [slug.toUpperCase(), `${slug} `, slug.slice(1), 'acme']) {
      await expect(ana.orgs.delete({ confirmSlug })).rejects.toMatchObject({
        status: 422,
        reason: 'confirmation_mismatch',
      });
    }
    await expect(ben.orgs.delete({ confirmSlug: slug })).rejects.toMatchObject({ status: 403 });
    await ana.session.identity();
    expect(await auditOf(orgId)).toEqual([{ operation: 'orgs.delete', outcome: 'denied', reason: 'role' }]);
  });

  it('twice at once happens once, and who waited for it is let in no more', async () => {
    const { orgId, slug, ana, ben } = await world.org();
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'orgs', id: orgId },
      () => ana.orgs.delete({ confirmSlug: slug }),
      () => ana.orgs.delete({ confirmSlug: slug }),
      () => ben.orgs.update({ name: 'Late' }),
    );
    const deletions = outcomes.slice(0, 2).map(({ status }) => status);
    expect(deletions.sort()).toEqual(['fulfilled', 'rejected']);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 401 });
    expect((await eventsOf(orgId)).filter(({ kind }) => kind === 'org.deleted')).toHaveLength(1);
  });

  it('leaves other organizations alone', async () => {
    const { slug, ana } = await world.org();
    const { ana: other } = await world.org();
    await ana.orgs.delete({ confirmSlug: slug });
    await other.session.identity();
  });
});
