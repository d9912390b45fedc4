import { describe, expect, it } from '@jest/globals';
import { type TokenIdentity } from '@muster/tenancy';
import { createWaitingCallLimiter, forwardedCallLimits, eventWaitLimits } from './shares.ts';

describe.each([
  ['that wait', eventWaitLimits],
  ['that go through MCP', forwardedCallLimits],
])('calls %s', (_title, most) => {
  const begin = () => {
    const shares = createWaitingCallLimiter(most, 'are there', 'too_many_waiting');
    const enter = (tokenId: string, orgId: string, memberId = tokenId) =>
      shares.enter({ tokenId, orgId, memberId } as TokenIdentity);
    /**
     * Enters `count` calls of an organization, with the smallest number of tokens that the limit per token
     * allows.
     */
    const fill = (orgId: string, count: number) =>
      Array.from({ length: count }, (_, nth) =>
        enter(`${orgId} ${Math.floor(nth / most.maxPerOwner)}`, orgId),
      );
    return { enter, fill };
  };
  const mine = {
    code: 'rate_limited',
    details: { reason: 'too_many_waiting', retryAfterSeconds: 1, retryable: true },
  };

  it('are so many of a token, and its colleagues have theirs', () => {
    const { enter, fill } = begin();
    const [leave] = fill('acme', most.maxPerOwner);
    expect(() => enter('acme 0', 'acme')).toThrow(expect.objectContaining(mine));
    enter('acme 1', 'acme');
    leave?.();
    leave?.();
    enter('acme 0', 'acme');
    expect(() => enter('acme 0', 'acme')).toThrow(expect.objectContaining(mine));
  });

  it('are at most half of an organization for one member with many tokens', () => {
    const { enter } = begin();
    for (let nth = 0; nth < most.maxPerOrganization / 2; nth += 1)
      enter(`token ${Math.floor(nth / most.maxPerOwner)}`, 'acme', 'ana');
    expect(() => enter('another token', 'acme', 'ana')).toThrow(expect.objectContaining(mine));
    enter('another token', 'acme', 'ben');
  });

  it('are so many of an organization, and others have theirs', () => {
    const { enter, fill } = begin();
    const [leave] = fill('acme', most.maxPerOrganization);
    expect(() => enter('new', 'acme')).toThrow(expect.objectContaining(mine));
    enter('new', 'other');
    leave?.();
    enter('new', 'acme');
  });

  it('are so many in all', () => {
    const { enter, fill } = begin();
    for (let left = most.maxTotal, nth = 0; left > 0; nth += 1, left -= most.maxPerOrganization)
      fill(`org ${nth}`, Math.min(left, most.maxPerOrganization));
    expect(() => enter('new', 'other')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});
