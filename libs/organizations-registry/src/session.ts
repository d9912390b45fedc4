import { z } from 'zod';
import {
  org,
  operation,
  Id,
  Time,
  HeldWork,
  maxHeldWork,
  Member,
  Token,
  Entitlement,
  Org,
} from '@muster/contract';

export const session = {
  identity: operation({
    name: 'session.identity',
    effect: 'read',
    summary: 'Show the identity of the token',
    keywords: 'who am i whoami me my token scopes permissions current user',
    description:
      "The member and agent of the token, the organization, the token itself with its scopes, the member's teams, the work that the member or agent holds, and the limits of the plan. A good first call.",
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({
      member: Member,
      agent: z
        .object({ id: Id, name: z.string() })
        .nullable()
        .describe('The agent of the token, if it has one'),
      org: Org,
      token: Token,
      teams: z.array(z.object({ id: Id, name: z.string(), role: z.enum(['lead', 'member']) })),
      holding: z
        .array(HeldWork)
        .describe(`Work of this member and agent under a lease, newest first, at most ${maxHeldWork}`),
      entitlement: Entitlement,
      serverTime: Time,
      apiVersion: z.string().describe('The API version, as `info.version` in /openapi.json'),
    }),
    example: {},
  }),
};
