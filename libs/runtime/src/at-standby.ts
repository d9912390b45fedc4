/** Selects the reads that a standby may answer. */
import { type Operation } from '@muster/contract';

/**
 * The namespaces that only the primary answers. Leases and sign-in are decided by the primary's clock and
 * rows, so they are read there as well. The access of operators is not cached in the process.
 */
const primaryOnlyNamespaces = [
  ...['deliveryExecutions', 'deliveryGroups', 'locks'],
  ...['session', 'sessions', 'tokens', 'connections', 'passkeys', 'identityProviders', 'admin'],
];

export const mayReadAtStandby = ({ name, effect }: Pick<Operation, 'name' | 'effect'>): boolean =>
  effect === 'read' && !primaryOnlyNamespaces.includes(name.split('.', 1)[0] ?? '');
