import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { renamePasskey } from '../../data/passkeys.ts';

export const rename = handle(organizationsRegistry.passkeys.rename, async ({ params, caller, db }) => ({
  passkey: await renamePasskey(db, caller, params),
}));
