import { z } from 'zod';
import {
  selfAccess,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  Id,
  MemberParam,
  ProjectRef,
  TokenName,
  AccessToken,
  GrantableScope,
  tokenLifetimeDays,
} from '@muster/contract';

export const tokens = {
  create: operation({
    name: 'tokens.create',
    effect: 'write',
    summary: 'Create a token for yourself or for one of your agents',
    keywords: 'api key secret credential access new login personal',
    description:
      "The secret is shown only in this response; a repeated call with the same Idempotency-Key returns it empty. A token cannot do more than the token that creates it: no higher scope and no other projects. That token becomes its parent (parentId): the new token expires no later, and is revoked with its parent. A session must be recent (else 403 proof_needed) and is no parent; only the role limits the token. The scope admin is for admins and the owner, and so is scim, for an identity provider: it is the only scope of its token, which is not limited to projects and reaches nothing but /scim/v2. Without projectIds it gets the projects of the calling token. An agent's token expires within 90 days, and reads the inbox only with mayReadInbox. Admins with the scope admin can also create tokens for agents of other members, unless that member has a higher role or the token would read that member's inbox. At most 100 active tokens per member.",
    access: selfAccess(),
    byMemberOnly: true,
    staysInProjects: true,
    surfaces: surfacesWithoutTool,
    auditsRefusal: true,
    needsProof: true,
    params: z
      .strictObject({
        name: TokenName,
        scopes: z.array(GrantableScope).min(1).max(3),
        projectIds: z.array(ProjectRef).min(1).max(100).optional(),
        agentId: AgentParam.optional(),
        expiresInDays: z.int().min(1).max(tokenLifetimeDays.most).default(tokenLifetimeDays.usual),
        mayReadInbox: z
          .boolean()
          .optional()
          .meta({ description: "Lets an agent's token read your notifications" }),
      })
      .refine(
        ({ agentId, expiresInDays }) =>
          agentId === undefined || expiresInDays <= tokenLifetimeDays.mostOfAgent,
        {
          error: `an agent's token must expire within ${tokenLifetimeDays.mostOfAgent} days`,
          path: ['expiresInDays'],
        },
      )
      .refine(({ scopes }) => scopes.length === 1 || !scopes.includes('scim'), {
        error: 'scim must be the only scope of a token',
        path: ['scopes'],
      })
      .refine(
        ({ agentId, projectIds, scopes }) =>
          !scopes.includes('scim') || (agentId === undefined && projectIds === undefined),
        { error: 'scim is only for a token of your own, without projectIds', path: ['scopes'] },
      )
      .refine(({ agentId, mayReadInbox }) => agentId !== undefined || mayReadInbox === undefined, {
        error: "is only for an agent's token; your own tokens can always read the inbox",
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
    description:
      'Newest first: your tokens and those of your agents; admins with the scope admin see all of the organization. Revoked and expired tokens only with includeEnded. A token limited to projects sees only tokens limited to the same projects or fewer.',
    access: selfAccess(),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      memberId: MemberParam.optional(),
      agentId: AgentParam.optional(),
      includeEnded: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(AccessToken),
    example: {},
  }),
  revoke: operation({
    name: 'tokens.revoke',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Revoke a token',
    keywords: 'delete api key leaked stolen sign out log out',
    description:
      'You can revoke your own tokens and those of your agents; admins with the scope admin can revoke any of the organization. The token and all tokens created with it (parentId) stop working immediately on all servers. Its leases and locks stay until they expire. Revoking it again has no effect.',
    access: selfAccess(),
    byMemberOnly: true,
    staysInProjects: true,
    surfaces: surfacesWithoutTool,
    auditsRefusal: true,
    params: z.strictObject({ tokenId: Id }),
    result: z.object({ token: AccessToken }),
    example: { tokenId: '01936d5c-0000-7000-8000-0000000000b0' },
  }),
};
