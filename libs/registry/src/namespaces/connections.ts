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
    summary: 'List the programs that you authorized by signing in',
    keywords: 'oauth mcp clients grants authorized apps connected',
    description:
      'Newest first. You see your own connections; admins with the scope admin see all of the organization. Revoked and expired ones only with includeEnded. A token limited to projects sees only connections limited to the same projects or fewer.',
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
    summary: 'Revoke the access of a program',
    keywords: 'oauth mcp disconnect client remove app access end',
    description:
      'You can revoke your own connections; admins with the scope admin can revoke any of the organization. Its tokens stop working immediately, and it cannot get new ones. Its leases and locks stay until they expire. Revoking it again has no effect.',
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
