import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listPasskeys } from '../../data/passkeys.ts';

export const list = handle(organizationsRegistry.passkeys.list, ({ params, caller, db }) =>
  listPasskeys(db, caller, params),
);
