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
  Connection,
} from '@muster/contract';

export const connections = {
  list: operation({
    name: 'connections.list',
    effect: 'read',
    summary: 'List the programs that you authorized by signing in',
    keywords: 'oauth mcp clients grants authorized apps connected',
    description:
      'Newest first. You see your own connections; admins with the scope admin see all of the organization. Revoked and expired ones only with includeEnded. A token limited to projects sees only connections limited to the same projects or fewer.',
    access: selfAccess(),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      memberId: MemberParam.optional(),
      agentId: AgentParam.optional(),
      includeEnded: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(Connection),
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
    access: selfAccess(),
    byMemberOnly: true,
    staysInProjects: true,
    surfaces: surfacesWithoutTool,
    auditsRefusal: true,
    params: z.strictObject({ connectionId: Id }),
    result: z.object({ connection: Connection }),
    example: { connectionId: '01936d5c-0000-7000-8000-0000000000c8' },
  }),
};
