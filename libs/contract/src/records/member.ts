import { z } from 'zod';
import { orgRoles, scopes } from '../kernel/access.ts';
import { Id, nameText, recordStamps, Time } from '../kernel/values.ts';

export const MemberName = nameText(120);
export const AgentName = nameText(120);
export const TokenName = nameText(120);
/** An e-mail address as it was entered. Addresses that differ only in case are the same. */
export const EmailAddress = z.email().min(3).max(320);

/** The actor of a change: a member, an agent of a member, or the system itself. */
export const Actor = z
  .object({
    kind: z.enum(['member', 'agent', 'system']),
    memberId: Id.nullable(),
    agentId: Id.nullable(),
    name: z.string(),
  })
  .meta({ id: 'Actor' });
export type Actor = z.infer<typeof Actor>;

export const memberStatuses = ['active', 'removed'] as const;
/** The roles that can be assigned. Ownership is transferred instead. */
export const GivenRole = z.enum(['admin', 'member', 'viewer']);
export type GivenRole = z.infer<typeof GivenRole>;

/** A member as a reference inside another record. */
export const MemberRef = z.object({ id: Id, name: z.string(), handle: z.string() });
export type MemberRef = z.infer<typeof MemberRef>;

export const Member = z
  .object({
    id: Id,
    email: z.string(),
    name: z.string(),
    handle: z.string().describe('Unique in the organization; used in mentions'),
    role: z.enum(orgRoles),
    status: z.enum(memberStatuses),
    ...recordStamps,
  })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof Member>;

export const Token = z
  .object({
    id: Id,
    name: z.string(),
    scopes: z.array(z.enum(scopes)),
    expiresAt: Time.nullable(),
    agentId: Id.nullable(),
    projectIds: z
      .array(Id)
      .nullable()
      .describe('The projects it is limited to; null means every project that its member may see'),
    mayReadInbox: z
      .boolean()
      .describe("Whether it may read its member's notifications; an agent may only if the member allowed it"),
  })
  .meta({ id: 'Token' });
