import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { Id, Time } from '../kernel/values.ts';
import { Member, Token } from '../records/member.ts';
import { Entitlement, Org } from '../records/org.ts';

export const session = {
  identity: operation({
    name: 'session.identity',
    effect: 'read',
    summary: 'Say who the token is',
    keywords: 'who am i whoami me my token scopes permissions current user',
    description: `The member behind the token and the agent that it is, the organization, the token itself and its scopes, the member's teams, and what the plan allows. A good first call.`,
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({
      member: Member,
      agent: z
        .object({ id: Id, name: z.string() })
        .nullable()
        .describe('Who the token is, where it is an agent'),
      org: Org,
      token: Token,
      teams: z.array(z.object({ id: Id, name: z.string(), role: z.enum(['lead', 'member']) })),
      entitlement: Entitlement,
      serverTime: Time,
      apiVersion: z.string().describe('Version of the interface, as `info.version` of /openapi.json'),
    }),
    example: {},
  }),
};
