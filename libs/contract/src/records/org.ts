import { z } from 'zod';
import { AttachmentKind } from './attachment.ts';
import { Id, nameText, multilineText, recordStamps, Time, Version } from '../kernel/values.ts';

export const OrgName = nameText(120);
export const OrgDescription = multilineText(2_000);
export const OrgSlug = z.string().regex(/^[a-z0-9-]{3,40}$/, 'must be 3 to 40 characters: a-z, 0-9 and -');

export const Org = z
  .object({
    id: Id,
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    ...recordStamps,
  })
  .meta({ id: 'Org' });
export type Org = z.infer<typeof Org>;

export const plans = ['free', 'team', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

/** The limits of the organization's plan, and its usage. Null means no limit. */
export const Entitlement = z
  .object({
    plan: z.enum(plans),
    status: z.enum(['trialing', 'active', 'past_due', 'canceled']),
    features: z.record(z.string(), z.boolean()),
    limits: z.object({
      seats: z.int().nullable(),
      projects: z.int().nullable(),
      agentsInCatalog: z.int().nullable(),
      auditRetentionDays: z.int().nullable(),
    }),
    usage: z.object({ seats: z.int(), projects: z.int(), agentsInCatalog: z.int() }),
    currentPeriodEnd: Time.nullable(),
  })
  .meta({ id: 'Entitlement' });
export type Entitlement = z.infer<typeof Entitlement>;

/** A duration of a lease: five seconds to one week. */
const LeaseTtl = z.int().min(5).max(604_800);
const domainNamePattern =
  /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;
/** A domain name in any case. It is stored in lower case. */
export const DomainName = z
  .string()
  .toLowerCase()
  .regex(domainNamePattern, 'must be a domain name such as example.com')
  .meta({ maxLength: 253 });

/** The rules that an organization sets for itself. The defaults are written here. */
export const Policy = z
  .object({
    defaultLeaseTtlSeconds: LeaseTtl.default(900),
    maxLeaseTtlSeconds: LeaseTtl.default(14_400),
    maxLockTtlSeconds: LeaseTtl.default(86_400),
    requiredApprovals: z.int().min(0).max(20).default(0),
    requireSpecToStart: z.boolean().default(false),
    requireMergeProof: z.boolean().default(false),
    mergeProof: z
      .enum(['reported', 'verified'])
      .default('reported')
      .describe(
        'Who can prove a merge if requireMergeProof is on. verified accepts only events that a connected forge signed. The default is verified in projects with a linked repository, and policy.get returns verified if there is such a project. With verified, a diffHash reported by a caller does not keep a verdict fresh',
      ),
    requireEvidence: z
      .array(AttachmentKind.exclude(['diff']))
      .max(6)
      .overwrite((kinds) => [...new Set(kinds)])
      .default([]),
    agentsMayReview: z.boolean().default(true),
    agentsMayComplete: z.boolean().default(true),
    authorMayApprove: z.boolean().default(false),
    wipLimits: z.enum(['off', 'warn', 'block']).default('warn'),
    completeStoryOnMerge: z.boolean().default(true),
    closeParents: z.boolean().default(false),
    allowedEmailDomains: z.array(DomainName).max(100).default([]),
    requirePasskey: z
      .boolean()
      .default(false)
      .describe('Whether only sessions with a passkey are accepted; the owner is exempt'),
    allowedIdentityProviders: z
      .array(Id)
      .max(20)
      .default([])
      .describe(
        'If not empty, only sessions that were started through one of these identity providers are accepted; the owner is exempt',
      ),
    gamificationEnabled: z.boolean().default(true),
    auditRetentionDays: z.int().min(1).max(3_650).default(365),
  })
  .meta({ id: 'Policy' });
export type Policy = z.infer<typeof Policy>;

/**
 * Returns the policy that applies, given the values that the organization stored. With a linked repository,
 * merges must be verified unless an admin set mergeProof.
 */
export function effectivePolicy(stored: unknown, hasLinkedRepository: boolean): Policy {
  const policy = Policy.parse(stored);
  return hasLinkedRepository && !isMergeProofSet(stored) ? { ...policy, mergeProof: 'verified' } : policy;
}

export const isMergeProofSet = (stored: unknown): boolean =>
  typeof stored === 'object' && stored !== null && 'mergeProof' in stored;

/** The policy as callers see it, with the version that an update must name. */
export const PolicyRecord = Policy.extend({ version: Version }).meta({ id: 'PolicyRecord' });
export type PolicyRecord = z.infer<typeof PolicyRecord>;
