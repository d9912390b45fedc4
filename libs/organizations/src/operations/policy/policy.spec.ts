import { describe, expect, it } from '@jest/globals';
import { Policy } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { useWorld } from '@muster/testing';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);

const readStoredPolicy = async (orgId: string) =>
  (await world.rows<{ policy: unknown }>('select policy from orgs where id = $1', orgId))[0]?.policy;

describe('policy.get', () => {
  it('shows defaults for what was never set, and the version', async () => {
    const { dan } = await world.org();
    const answer = await dan.policy.get();
    expect(organizationsRegistry.policy.get.result.parse(answer)).toEqual(answer);
    expect(answer.policy).toEqual({ ...Policy.parse({}), version: 1 });
  });

  it('shows what was set', async () => {
    const { dan } = await world.org({ policy: { requiredApprovals: 2 } });
    expect((await dan.policy.get()).policy).toMatchObject({ requiredApprovals: 2, wipLimits: 'warn' });
  });
});

describe('policy.update', () => {
  it('keeps what was set and nothing else, and says which fields changed', async () => {
    const { orgId, ben } = await world.org();
    const { policy } = await ben.policy.update({
      requiredApprovals: 2,
      wipLimits: 'block',
      agentsMayReview: true,
      expectedVersion: 1,
    });
    expect(policy).toEqual({ ...Policy.parse({}), requiredApprovals: 2, wipLimits: 'block', version: 2 });
    expect((await ben.policy.get()).policy).toEqual(policy);
    expect(await ben.policy.update({ requiredApprovals: 2 })).toEqual({ policy });
    const { policy: back } = await ben.policy.update({ wipLimits: null, agentsMayReview: null });
    expect(back).toEqual({ ...policy, wipLimits: 'warn', version: 3 });
    expect(await readStoredPolicy(orgId)).toEqual({ requiredApprovals: 2 });
    const happened = await world.rows(
      'select kind, data, subject from activity where org_id = $1 order by seq',
      orgId,
    );
    expect(happened).toMatchObject([
      {
        kind: 'policy.updated',
        data: { fields: ['requiredApprovals', 'wipLimits'] },
        subject: { id: orgId },
      },
      { kind: 'policy.updated', data: { fields: ['wipLimits'] } },
    ]);
  });

  it('keeps a mergeProof that is set to its default until it is set to null', async () => {
    const { orgId, ana } = await world.org();
    const set = async (mergeProof: 'reported' | null) => (await ana.policy.update({ mergeProof })).policy;
    const reported = { mergeProof: 'reported', version: 2 };
    expect(await set('reported')).toMatchObject(reported);
    expect(await set('reported')).toMatchObject(reported);
    expect((await ana.policy.get()).policy).toMatchObject(reported);
    expect(await readStoredPolicy(orgId)).toEqual({ mergeProof: 'reported' });
    expect(await set(null)).toMatchObject({ ...reported, version: 3 });
    expect(await readStoredPolicy(orgId)).toEqual({});
  });

  it('has a version of its own, apart from the record of the organization', async () => {
    const { ana } = await world.org();
    await ana.orgs.update({ name: 'New' });
    await ana.policy.update({ requiredApprovals: 1, expectedVersion: 1 });
    await ana.orgs.update({ name: 'Newer', expectedVersion: 2 });
    await expect(ana.policy.update({ requiredApprovals: 3, expectedVersion: 1 })).rejects.toMatchObject({
      status: 409,
      reason: 'version_mismatch',
      body: { details: { currentVersion: 2 } },
    });
  });

  it('loses no change of two that are made at once', async () => {
    const { orgId, ana, ben } = await world.org();
    await world.runUnderContention<unknown>(
      { table: 'orgs', id: orgId },
      () => ana.policy.update({ requiredApprovals: 3 }),
      () => ben.policy.update({ wipLimits: 'off' }),
      () => ana.orgs.update({ name: 'New' }),
    );
    expect(await readStoredPolicy(orgId)).toEqual({ requiredApprovals: 3, wipLimits: 'off' });
    expect((await ana.policy.get()).policy.version).toBe(3);
    expect((await ana.session.identity()).org).toMatchObject({ name: 'New', version: 2 });
  });

  it('takes domain names in any case and keeps them in small letters', async () => {
    const { ben } = await world.org();
    const { policy } = await ben.policy.update({
      allowedEmailDomains: ['Example.COM', 'mail.acme-1.example', 'xn--mnchen-3ya.xn--p1ai'],
    });
    expect(policy.allowedEmailDomains).toEqual([
      'example.com',
      'mail.acme-1.example',
      'xn--mnchen-3ya.xn--p1ai',
    ]);
    const bad = ['example', '@example.com', 'a..b', '-a.com', 'a-.com', 'exa mple.com', '*.com', 'ex.c', ''];
    for (const domain of [...bad, `${'a.'.repeat(130)}com`, 'münchen.de', 'example.com\n']) {
      await expect(ben.policy.update({ allowedEmailDomains: [domain] })).rejects.toMatchObject({
        status: 400,
      });
    }
    const many = Array.from({ length: 101 }, (_, n) => `a${n}.example`);
    await expect(ben.policy.update({ allowedEmailDomains: many })).rejects.toMatchObject({ status: 400 });
  });

  it('refuses a usual lease that is longer than the longest, however the two come together', async () => {
    const { ben } = await world.org();
    const refused = { status: 422, reason: 'policy', body: { details: { unmet: [expect.anything()] } } };
    await expect(
      ben.policy.update({ defaultLeaseTtlSeconds: 100, maxLeaseTtlSeconds: 99 }),
    ).rejects.toMatchObject(refused);
    await expect(ben.policy.update({ maxLeaseTtlSeconds: 899 })).rejects.toMatchObject(refused);
    await ben.policy.update({ defaultLeaseTtlSeconds: 60, maxLeaseTtlSeconds: 60 });
    await expect(ben.policy.update({ defaultLeaseTtlSeconds: null })).rejects.toMatchObject(refused);
    expect((await ben.policy.get()).policy).toMatchObject({ maxLeaseTtlSeconds: 60, version: 2 });
  });

  it('refuses a longer audit than the plan keeps', async () => {
    const { ana } = await world.org({ plan: 'free' });
    await expect(ana.policy.update({ auditRetentionDays: 91 })).rejects.toMatchObject({
      status: 422,
      reason: 'limit_exceeded',
      body: { details: { plan: 'free', limit: 90 } },
    });
    // The policy is sent back unchanged.
    const { version: _version, ...read } = (await ana.policy.get({})).policy;
    expect(read.auditRetentionDays).toBe(365);
    const { policy } = await ana.policy.update({ ...read, requiredApprovals: 3 });
    expect(policy).toMatchObject({ ...read, requiredApprovals: 3 });
    await ana.policy.update({ auditRetentionDays: 90 });
    await expect(ana.policy.update(read)).rejects.toMatchObject({ reason: 'limit_exceeded' });
    await ana.policy.update({ auditRetentionDays: null });
    const { ana: rich } = await world.org({ plan: 'enterprise' });
    expect((await rich.policy.update({ auditRetentionDays: 3_650 })).policy.auditRetentionDays).toBe(3_650);
  });

  it('is for admins, and a refusal is recorded', async () => {
    const { orgId, chloe } = await world.org();
    await expect(chloe.policy.update({ requiredApprovals: 0 })).rejects.toMatchObject({ status: 403 });
    expect(await world.rows('select operation, outcome from audit where org_id = $1', orgId)).toEqual([
      { operation: 'policy.update', outcome: 'denied' },
    ]);
  });
});
