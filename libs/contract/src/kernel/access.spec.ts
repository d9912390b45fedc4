import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  orgRank,
  orgRoles,
  projectRank,
  projectRoles,
  type Scope,
  scopeCovers,
  scopes,
  targetKindOf,
} from './access.ts';

describe('scopeCovers', () => {
  it.each([
    [['read'], 'read', true],
    [['read'], 'write', false],
    [['read'], 'admin', false],
    [['write'], 'read', true],
    [['write'], 'write', true],
    [['write'], 'admin', false],
    [['admin'], 'read', true],
    [['admin'], 'write', true],
    [['admin'], 'admin', true],
    [['read', 'write', 'admin'], 'platform', false],
    [['platform'], 'platform', true],
    [['platform'], 'read', false],
    [['platform'], 'admin', false],
    [['read', 'platform'], 'read', true],
    [['read', 'platform'], 'write', false],
    [[], 'read', false],
  ] as [Scope[], Scope, boolean][])('of %j for %s: %s', (held, needed, covered) => {
    expect(scopeCovers(held, needed)).toBe(covered);
  });

  const someScopes = fc.subarray([...scopes]);
  const scope = fc.constantFrom(...scopes);

  it('never takes anything away when a scope is added', () => {
    fc.assert(
      fc.property(someScopes, scope, scope, (held, more, needed) => {
        if (scopeCovers(held, needed)) expect(scopeCovers([...held, more], needed)).toBe(true);
      }),
    );
  });

  it('gives nothing beyond what was held: adding read adds nothing to write', () => {
    fc.assert(
      fc.property(scope, (needed) => {
        expect(scopeCovers(['read', 'write'], needed)).toBe(scopeCovers(['write'], needed));
      }),
    );
  });
});

describe('ranks', () => {
  it('rise with the roles, from 1', () => {
    expect(orgRoles.map(orgRank)).toEqual([1, 2, 3, 4]);
    expect(projectRoles.map(projectRank)).toEqual([1, 2, 3]);
    expect(orgRank('owner')).toBeGreaterThan(orgRank('admin'));
    expect(projectRank('lead')).toBeGreaterThan(projectRank('contributor'));
  });
});

describe('the kind of a target', () => {
  it('goes by the parameter, or by the one that says it', () => {
    expect(targetKindOf('epicId', { epicId: 'x', targetType: 'story' })).toBe('epic');
    const kinds = ['story', 'epic', 'delivery_group'].map((targetType) =>
      targetKindOf('targetId', { targetType, targetId: 'x' }),
    );
    expect(kinds).toEqual(['story', 'epic', 'deliveryGroup']);
    expect(() => targetKindOf('targetId', { targetType: 'column', targetId: 'x' })).toThrow('targetType');
  });
});
