import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listPasskeys } from '../../data/passkeys.ts';

export const list = handle(registry.passkeys.list, ({ params, caller, db }) =>
  listPasskeys(db, caller, params),
);
