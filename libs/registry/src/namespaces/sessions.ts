import { z } from 'zod';
import { self } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id } from '../kernel/values.ts';
import { Session } from '../records/session.ts';

export const sessions = {
  list: operation({
    name: 'sessions.list',
    effect: 'read',
    summary: 'List the browsers in which you are signed in',
    keywords: 'devices logins cookies where am I signed in',
    description: `Newest first, those of all your organizations: a session is a person's. Empty for a member who has never signed in.`,
    access: self(),
    byMemberOnly: true,
    surfaces: notAsTool,
    params: z.strictObject({ ...page }),
    result: pageOf(Session),
    example: {},
  }),
  revoke: operation({
    name: 'sessions.revoke',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Sign out one of the browsers in which you are signed in',
    keywords: 'log out end session lost laptop stolen',
    description: `It is refused from the next call on, in every organization. Ending one again changes nothing.`,
    access: self(),
    byMemberOnly: true,
    surfaces: notAsTool,
    auditsRefusal: true,
    params: z.strictObject({ sessionId: Id }),
    result: z.object({ ended: z.int().describe('How many were not over yet') }),
    example: { sessionId: '01936d5c-0000-7000-8000-0000000000c0' },
  }),
  revokeOthers: operation({
    name: 'sessions.revokeOthers',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Sign out everywhere but here',
    keywords: 'log out all devices end sessions',
    description: `All of your sessions but the one that calls; called with a token, all of them.`,
    access: self(),
    byMemberOnly: true,
    surfaces: notAsTool,
    auditsRefusal: true,
    params: z.strictObject({}),
    result: z.object({ ended: z.int().describe('How many were not over yet') }),
    example: {},
  }),
};
