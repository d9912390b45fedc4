import { describe, expect, it } from '@jest/globals';
import { orgRoles, projectRank, projectRoles } from '@muster/contract';
import fc from 'fast-check';
import { pickHigherRole, wouldLoseLastLead, findRulesViolatedByRole } from './project-roles.ts';

describe('a role in a project', () => {
  it('is more than viewer only for who holds a seat', () => {
    for (const orgRole of orgRoles) {
      for (const role of projectRoles) {
        const reads = orgRole !== 'viewer' || role === 'viewer';
        expect([orgRole, role, findRulesViolatedByRole(orgRole, role)]).toEqual([
          orgRole,
          role,
          reads ? [] : ['viewers_hold_no_seat'],
        ]);
      }
    }
  });

  it('is never lowered by another', () => {
    const role = fc.constantFrom(...projectRoles);
    fc.assert(
      fc.property(role, fc.option(role, { nil: undefined }), (one, other) => {
        const higher = pickHigherRole(one, other);
        expect([one, other]).toContain(higher);
        expect(projectRank(higher)).toBeGreaterThanOrEqual(projectRank(one));
        if (other !== undefined) expect(projectRank(higher)).toBeGreaterThanOrEqual(projectRank(other));
      }),
    );
  });
});

describe('a project', () => {
  it('loses its lead where it is private, had one, and would have none', () => {
    const loses = (['org', 'private'] as const).flatMap((visibility) =>
      [false, true].flatMap((hasLead) =>
        [false, true]
          .filter((keepsLead) => wouldLoseLastLead(visibility, { hasLead, keepsLead }))
          .map((keepsLead) => ({ visibility, hasLead, keepsLead })),
      ),
    );
    expect(loses).toEqual([{ visibility: 'private', hasLead: true, keepsLead: false }]);
  });
});
