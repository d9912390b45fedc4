import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { renamePasskey } from '../../data/passkeys.ts';

export const rename = handle(registry.passkeys.rename, async ({ params, caller, db }) => ({
  passkey: await renamePasskey(db, caller, params),
}));
