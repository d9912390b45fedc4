import { z } from 'zod';
import {
  selfAccess,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  Id,
  Session,
} from '@muster/contract';

export const sessions = {
  list: operation({
    name: 'sessions.list',
    effect: 'read',
    summary: 'List the browsers in which you are signed in',
    keywords: 'devices logins cookies where am I signed in',
    description:
      'Newest first, across all your organizations, because a session belongs to a person. Empty for a member who has never signed in.',
    access: selfAccess(),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(Session),
    example: {},
  }),
  revoke: operation({
    name: 'sessions.revoke',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Sign out one of your browsers',
    keywords: 'log out end session lost laptop stolen',
    description:
      'The session stops working immediately, in every organization. Ending it again has no effect.',
    access: selfAccess(),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    auditsRefusal: true,
    params: z.strictObject({ sessionId: Id }),
    result: z.object({ ended: z.int().describe('The number of sessions that were still active') }),
    example: { sessionId: '01936d5c-0000-7000-8000-0000000000c0' },
  }),
  revokeOthers: operation({
    name: 'sessions.revokeOthers',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Sign out all other browsers',
    keywords: 'log out all devices end sessions',
    description:
      'Ends all your sessions except the one that makes the call; called with a token, it ends all of them.',
    access: selfAccess(),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    auditsRefusal: true,
    params: z.strictObject({}),
    result: z.object({ ended: z.int().describe('The number of sessions that were still active') }),
    example: {},
  }),
};
