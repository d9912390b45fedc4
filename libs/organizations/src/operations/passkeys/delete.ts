import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { deletePasskey } from '../../data/passkeys.ts';

export const deleteOperation = handle(registry.passkeys.delete, async ({ params, caller, db }) => {
  await deletePasskey(db, caller, params.passkeyId);
  return { deleted: true as const };
});
