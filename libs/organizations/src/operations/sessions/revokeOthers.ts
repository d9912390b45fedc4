import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { endSessions } from '../../data/sessions.ts';

export const revokeOthers = handle(organizationsRegistry.sessions.revokeOthers, async ({ caller, db }) => ({
  ended: await endSessions(db, caller, null),
}));
