import { z } from 'zod';
import { self } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { AgentParam, Id, MemberParam, ProjectRef } from '../kernel/values.ts';
import { TokenName } from '../records/member.ts';
import { AccessToken, GivenScope, tokenDays } from '../records/token.ts';

export const tokens = {
  create: operation({
    name: 'tokens.create',
    effect: 'write',
    summary: 'Make a token of your own, or of an agent of yours',
    keywords: 'api key secret credential access new login personal',
    description: `The secret is in this answer alone; where an Idempotency-Key repeats the call, it is empty. A token never does more than the one it was made with: no higher scope, no project beyond those that one reaches. That token becomes its parent (parentId): it expires no later, and is revoked when the parent is. A session, which has to have been proven lately, is no parent: only the role counts. The scope admin is for admins and the owner. Absent projectIds are those of the token that calls: every project, or those that it is bound to. An agent's token ends within 90 days, and reads the inbox only with mayReadInbox. Admins, with the scope admin, make tokens of agents of others too, but none of an agent whose member has a higher role than theirs, and none that reads another's inbox. At most 100 tokens of a member are alive.`,
    access: self(),
    byMemberOnly: true,
    staysInProjects: true,
    surfaces: notAsTool,
    auditsRefusal: true,
    needsProof: true,
    params: z
      .strictObject({
        name: TokenName,
        scopes: z.array(GivenScope).min(1).max(3),
        projectIds: z.array(ProjectRef).min(1).max(100).optional(),
        agentId: AgentParam.optional(),
        expiresInDays: z.int().min(1).max(tokenDays.most).default(tokenDays.usual),
        mayReadInbox: z
          .boolean()
          .optional()
          .meta({ description: "Of an agent's token: it reads your notifications" }),
      })
      .refine(
        ({ agentId, expiresInDays }) => agentId === undefined || expiresInDays <= tokenDays.mostOfAgent,
        { error: `an agent's token ends within ${tokenDays.mostOfAgent} days`, path: ['expiresInDays'] },
      )
      .refine(({ agentId, mayReadInbox }) => agentId !== undefined || mayReadInbox === undefined, {
        error: 'is for the token of an agent; your own reads the inbox anyway',
        path: ['mayReadInbox'],
      }),
    result: z.object({ token: AccessToken, secret: z.string() }),
    secret: 'secret',
    refusals: ['limit_exceeded', 'agent_retired'],
    example: { name: 'Laptop', scopes: ['write'], expiresInDays: 30 },
  }),
  list: operation({
    name: 'tokens.list',
    effect: 'read',
    summary: 'List your tokens, without their secrets',
    keywords: 'api keys credentials last used expiry',
    description: `Newest first: your own and those of your agents; for admins with the scope admin, all of the organization. Those that are revoked or have expired only with includeEnded. A token that is bound to projects sees those alone that are bound to the same or fewer.`,
    access: self(),
    byMemberOnly: true,
    surfaces: notAsTool,
    params: z.strictObject({
      memberId: MemberParam.optional(),
      agentId: AgentParam.optional(),
      includeEnded: z.boolean().default(false),
      ...page,
    }),
    result: pageOf(AccessToken),
    example: {},
  }),
  revoke: operation({
    name: 'tokens.revoke',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'End a token',
    keywords: 'delete api key leaked stolen sign out log out',
    description: `Of your own, or of your agents; for admins with the scope admin, any of the organization. It and all tokens that were made with it (parentId) are refused from the next call on, at every server. What it holds by leases and locks stays until that expires. Ending one again changes nothing.`,
    access: self(),
    byMemberOnly: true,
    staysInProjects: true,
    surfaces: notAsTool,
    auditsRefusal: true,
    params: z.strictObject({ tokenId: Id }),
    result: z.object({ token: AccessToken }),
    example: { tokenId: '01936d5c-0000-7000-8000-0000000000b0' },
  }),
};
