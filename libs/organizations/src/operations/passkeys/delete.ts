import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { deletePasskey } from '../../data/passkeys.ts';

export const deleteOperation = handle(
  organizationsRegistry.passkeys.delete,
  async ({ params, caller, db }) => {
    await deletePasskey(db, caller, params.passkeyId);
    return { deleted: true as const };
  },
);
