import { describe, expect, it } from '@jest/globals';
import { operations as all } from '@muster/registry';
import { mayReadAtStandby } from '@muster/runtime';

const operations = [...all.values()];
const namespaces = (isThere: boolean): string[] => [
  ...new Set(
    operations
      .filter((operation) => operation.effect === 'read' && mayReadAtStandby(operation) === isThere)
      .map(({ name }) => name.split('.', 1)[0] ?? ''),
  ),
];

describe('a standby', () => {
  it('answers no write', () => {
    expect(
      operations.filter((operation) => operation.effect === 'write' && mayReadAtStandby(operation)),
    ).toEqual([]);
  });

  it('says neither who holds work, nor who gets in, nor what is for operators', () => {
    expect(namespaces(false).toSorted()).toEqual([
      ...['admin', 'connections', 'deliveryExecutions', 'deliveryGroups', 'identityProviders', 'locks'],
      ...['passkeys', 'session', 'sessions', 'tokens'],
    ]);
  });

  it('answers the other reads', () => {
    expect(namespaces(true)).toEqual(expect.arrayContaining(['stories', 'projects', 'activity', 'search']));
  });
});
