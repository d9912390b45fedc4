import { expect, it } from '@jest/globals';
import { toOcsf } from './ocsf.ts';
import { type AuditEntry } from './trail.ts';

const entryOf = (operation: string): AuditEntry => ({
  id: '01936d5c-0000-7000-8000-000000000001',
  at: '2026-11-30T09:00:00.000Z',
  actor: { memberId: null, agentId: null, name: 'Worker' } as AuditEntry['actor'],
  tokenId: null,
  operation,
  target: null,
  outcome: 'allowed',
  reason: null,
  ip: null,
  userAgent: null,
  requestId: 'r',
  details: null,
});

it.each([
  ['members.invite', 'Create'],
  ['devices.register', 'Create'],
  ['projects.requestAccess', 'Create'],
  ['stories.create', 'Create'],
  ['devices.unregister', 'Delete'],
  ['tokens.revoke', 'Delete'],
  ['session.identity', 'Read'],
  ['stories.update', 'Update'],
  ['members.resolveAccessRequest', 'Update'],
])('%s is of the activity %s', (operation, activity) => {
  expect(toOcsf(entryOf(operation), { orgId: 'o' }).activity_name).toBe(activity);
});
