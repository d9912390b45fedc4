import { z } from 'zod';
import { self } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { AgentParam, Id, MemberParam } from '../kernel/values.ts';
import { Connection } from '../records/connection.ts';

export const connections = {
  list: operation({
    name: 'connections.list',
    effect: 'read',
    summary: 'List the programs that you let in by signing in',
    keywords: 'oauth mcp clients grants authorized apps connected',
    description: `Newest first: your own; for admins with the scope admin, all of the organization. Those that are revoked or have expired only with includeEnded. A token that is bound to projects sees those alone that are bound to the same or fewer.`,
    access: self(),
    byMemberOnly: true,
    surfaces: notAsTool,
    params: z.strictObject({
      memberId: MemberParam.optional(),
      agentId: AgentParam.optional(),
      includeEnded: z.boolean().default(false),
      ...page,
    }),
    result: pageOf(Connection),
    example: {},
  }),
  revoke: operation({
    name: 'connections.revoke',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Let a program in no more',
    keywords: 'oauth mcp disconnect client remove app access end',
    description: `Your own; for admins with the scope admin, any of the organization. Its tokens are refused from the next call on, and it gets no more of them. What it holds by leases and locks stays until that expires. Ending one again changes nothing.`,
    access: self(),
    byMemberOnly: true,
    staysInProjects: true,
    surfaces: notAsTool,
    auditsRefusal: true,
    params: z.strictObject({ connectionId: Id }),
    result: z.object({ connection: Connection }),
    example: { connectionId: '01936d5c-0000-7000-8000-0000000000c8' },
  }),
};
