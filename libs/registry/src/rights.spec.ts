import { describe, expect, it } from '@jest/globals';
import { tokenRefusal } from '@muster/contract';
import { registry } from './registry.ts';

const { forges, orgs, stories } = registry;
const token = { scopes: ['write'], agentId: null, projectIds: null, mayReadInbox: false } as const;
const agents = { ...token, agentId: '01936d5c-0000-7000-8000-000000000091' };

describe('the token of an agent', () => {
  it('hears that it is for its member alone, whatever its scope', () => {
    for (const scopes of [['read'], ['write'], ['admin']] as const)
      expect(tokenRefusal(forges.list, { ...agents, scopes })).toBe('agents_may_not');
    expect(tokenRefusal(forges.list, token)).toBe('scope');
    expect(tokenRefusal(forges.list, { ...token, scopes: ['admin'] })).toBeNull();
  });

  it('may else do what its scope covers', () => {
    expect(tokenRefusal(orgs.update, agents)).toBe('scope');
    expect(tokenRefusal(stories.create, agents)).toBeNull();
  });
});
