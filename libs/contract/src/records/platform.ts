/** Records that operators of the installation see, about all organizations. */
import { z } from 'zod';
import { orgRoles } from '../kernel/access.ts';
import { Id, recordStamps, Time } from '../kernel/values.ts';
import { ExecutionState } from './execution.ts';
import { plans } from './org.ts';

const OrgRef = z.object({ id: Id, slug: z.string(), name: z.string() });
const status = z.enum(['trialing', 'active', 'past_due', 'canceled']);
const count = z.int().min(0);

/** A person: all memberships with the same e-mail address. */
export const PlatformAccount = z
  .object({
    email: z.string(),
    name: z.string().describe('From the organization that the person joined last'),
    memberships: z.array(z.object({ orgId: Id, orgSlug: z.string(), memberId: Id, role: z.enum(orgRoles) })),
  })
  .meta({ id: 'PlatformAccount' });
export type PlatformAccount = z.infer<typeof PlatformAccount>;

export const PlatformOrg = z
  .object({
    id: Id,
    slug: z.string(),
    name: z.string(),
    plan: z.enum(plans),
    status,
    seats: count,
    owner: z.object({ email: z.string(), name: z.string() }).nullable(),
    createdAt: Time,
    deletedAt: Time.nullable().describe('When it was deleted; it will be purged later'),
  })
  .meta({ id: 'PlatformOrg' });
export type PlatformOrg = z.infer<typeof PlatformOrg>;

export const PlatformTeam = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    members: count,
    org: OrgRef,
    createdAt: Time,
  })
  .meta({ id: 'PlatformTeam' });
export type PlatformTeam = z.infer<typeof PlatformTeam>;

export const PlatformSubscription = z
  .object({
    org: OrgRef,
    plan: z.enum(plans),
    status,
    seats: count,
    currentPeriodEnd: Time.nullable(),
    ...recordStamps,
  })
  .meta({ id: 'PlatformSubscription' });
export type PlatformSubscription = z.infer<typeof PlatformSubscription>;

const Queue = z.object({ waiting: count, active: count, delayed: count, failed: count });

export const PlatformMetrics = z
  .object({
    orgs: count,
    accounts: count.describe('E-mail addresses with a member in some organization'),
    projects: count,
    stories: count,
    estimated: z
      .array(z.string())
      .describe('The numbers that are estimates because counting would take too long'),
    plans: z.record(z.enum(plans), count).describe('Organizations by plan'),
    executions: z.record(ExecutionState, count).describe('Executions by state, as callers see it'),
    queues: z
      .record(z.string(), Queue)
      .describe('Jobs that follow from writes, by kind; every kind is listed, even with no jobs'),
    outboxLagSeconds: count.describe('How long the oldest due job has waited for the queue'),
    operationsLast24h: count.describe('Audit entries: writes, and refusals that are audited'),
    measuredAt: Time,
  })
  .meta({ id: 'PlatformMetrics' });
export type PlatformMetrics = z.infer<typeof PlatformMetrics>;
