import { describe, expect, it } from '@jest/globals';
import { GivenRole, type OrgRole, orgRank, orgRoles } from '@muster/contract';
import fc from 'fast-check';
import { roleNeedsSeat, checkMemberRemoval, checkRoleChange } from './role-changes.ts';

describe('roles', () => {
  it.each([
    // by, from, to
    ['owner', 'viewer', 'admin', 'needs_seat'],
    ['owner', 'viewer', 'member', 'needs_seat'],
    ['owner', 'member', 'admin', 'allowed'],
    ['owner', 'member', 'viewer', 'allowed'],
    ['owner', 'admin', 'member', 'allowed'],
    ['owner', 'admin', 'viewer', 'allowed'],
    ['owner', 'owner', 'admin', 'owner_required'],
    ['admin', 'viewer', 'admin', 'owner_only'],
    ['admin', 'viewer', 'member', 'needs_seat'],
    ['admin', 'member', 'admin', 'owner_only'],
    ['admin', 'member', 'viewer', 'allowed'],
    ['admin', 'admin', 'member', 'owner_only'],
    ['admin', 'admin', 'viewer', 'owner_only'],
    ['admin', 'admin', 'admin', 'unchanged'],
    ['admin', 'owner', 'viewer', 'owner_required'],
  ] as const)('%s makes %s %s: %s', (by, from, to, ruling) => {
    expect(checkRoleChange(by, from, to)).toBe(ruling);
  });
});

describe('removal', () => {
  it.each([
    ['owner', 'viewer', 'allowed'],
    ['owner', 'member', 'allowed'],
    ['owner', 'admin', 'allowed'],
    ['owner', 'owner', 'owner_required'],
    ['admin', 'viewer', 'allowed'],
    ['admin', 'member', 'allowed'],
    ['admin', 'admin', 'owner_only'],
    ['admin', 'owner', 'owner_required'],
  ] as const)('%s removes %s: %s', (by, whom, ruling) => {
    expect(checkMemberRemoval(by, whom)).toBe(ruling);
  });
});

describe('whatever is asked for', () => {
  const admins = fc.constantFrom('admin', 'owner' as const);
  const anyRole = fc.constantFrom(...orgRoles);
  const given = fc.constantFrom(...GivenRole.options);
  const wishes = fc.array(
    fc.record({ by: admins, whom: fc.nat({ max: 5 }), to: given, remove: fc.boolean() }),
  );

  it('keeps the one owner, and lets admins touch nobody of their own rank', () => {
    fc.assert(
      fc.property(fc.array(given, { minLength: 5, maxLength: 5 }), wishes, (others, plan) => {
        const people: (OrgRole | null)[] = ['owner', ...others];
        for (const { by, whom, to, remove } of plan) {
          const now = people[whom] ?? null;
          if (now === null) continue;
          const ruling = remove ? checkMemberRemoval(by, now) : checkRoleChange(by, now, to);
          if (ruling !== 'allowed' && ruling !== 'needs_seat') continue;
          if (by === 'admin') expect(orgRank(now)).toBeLessThan(orgRank('admin'));
          if (by === 'admin' && !remove) expect(to).not.toBe('admin');
          people[whom] = remove ? null : to;
        }
        expect(people.map((role) => role === 'owner')).toEqual([true, false, false, false, false, false]);
      }),
    );
  });

  it('asks for a seat exactly when one more is held afterwards', () => {
    fc.assert(
      fc.property(admins, anyRole, given, (by, from, to) => {
        const ruling = checkRoleChange(by, from, to);
        if (ruling === 'needs_seat') expect([roleNeedsSeat(from), roleNeedsSeat(to)]).toEqual([false, true]);
        if (ruling === 'allowed') expect(roleNeedsSeat(to) && !roleNeedsSeat(from)).toBe(false);
        expect(ruling === 'unchanged').toBe(from === to);
      }),
    );
  });

  it('allows the owner all that an admin may', () => {
    fc.assert(
      fc.property(anyRole, given, (from, to) => {
        const byAdmin = checkRoleChange('admin', from, to);
        if (byAdmin !== 'owner_only') expect(checkRoleChange('owner', from, to)).toBe(byAdmin);
        const removal = checkMemberRemoval('admin', from);
        if (removal !== 'owner_only') expect(checkMemberRemoval('owner', from)).toBe(removal);
      }),
    );
  });
});
