/** Which reads a standby may answer. */
import { type Operation } from '@muster/registry';

/**
 * Who holds work and who gets in is decided by the clock and the rows of the primary, so it is read there as well;
 * operators come in by a pass that the process does not remember.
 */
const primaryAlone = [
  ...['deliveryExecutions', 'deliveryGroups', 'locks'],
  ...['session', 'sessions', 'tokens', 'connections', 'passkeys', 'identityProviders', 'admin'],
];

export const mayReadAtStandby = ({ name, effect }: Pick<Operation, 'name' | 'effect'>): boolean =>
  effect === 'read' && !primaryAlone.includes(name.split('.', 1)[0] ?? '');
