import { z } from 'zod';
import { org, operation, ExpectedVersion, Policy, PolicyRecord } from '@muster/contract';

/** Makes a field of the policy optional: if omitted it stays unchanged, and null resets it to the default. */
const optionalChange = <Field extends z.ZodType>(field: z.ZodDefault<Field>) =>
  field.unwrap().nullable().optional();
const { shape } = Policy;

export const policy = {
  get: operation({
    name: 'policy.get',
    effect: 'read',
    summary: 'Get the policy of the organization',
    keywords: 'settings rules limits required approvals needed how many configuration',
    description: 'Rules that were never set have their default.',
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({ policy: PolicyRecord }),
    example: {},
  }),
  update: operation({
    name: 'policy.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change the policy of the organization',
    keywords: 'settings rules require approvals configure change limits',
    description:
      "Omitted fields keep their values; null restores the default. The call fails if the default lease exceeds the maximum lease, if auditRetentionDays exceeds the plan's limit (unless unchanged), or if an identity provider has no proven domain. Rules for sessions apply from their next call on.",
    access: org('admin'),
    params: z.strictObject({
      defaultLeaseTtlSeconds: optionalChange(shape.defaultLeaseTtlSeconds),
      maxLeaseTtlSeconds: optionalChange(shape.maxLeaseTtlSeconds),
      maxLockTtlSeconds: optionalChange(shape.maxLockTtlSeconds),
      requiredApprovals: optionalChange(shape.requiredApprovals),
      requireSpecToStart: optionalChange(shape.requireSpecToStart),
      requireMergeProof: optionalChange(shape.requireMergeProof),
      mergeProof: optionalChange(shape.mergeProof),
      requireEvidence: optionalChange(shape.requireEvidence),
      agentsMayReview: optionalChange(shape.agentsMayReview),
      agentsMayComplete: optionalChange(shape.agentsMayComplete),
      authorMayApprove: optionalChange(shape.authorMayApprove),
      wipLimits: optionalChange(shape.wipLimits),
      completeStoryOnMerge: optionalChange(shape.completeStoryOnMerge),
      closeParents: optionalChange(shape.closeParents),
      allowedEmailDomains: optionalChange(shape.allowedEmailDomains),
      requirePasskey: optionalChange(shape.requirePasskey),
      allowedIdentityProviders: optionalChange(shape.allowedIdentityProviders),
      gamificationEnabled: optionalChange(shape.gamificationEnabled),
      auditRetentionDays: optionalChange(shape.auditRetentionDays),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ policy: PolicyRecord }),
    refusals: ['version_mismatch', 'policy', 'limit_exceeded'],
    emits: ['policy.updated'],
    auditsRefusal: true,
    example: { requiredApprovals: 1, allowedEmailDomains: ['example.com'] },
  }),
};
