import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { endSessions } from '../../data/sessions.ts';

export const revoke = handle(organizationsRegistry.sessions.revoke, async ({ params, caller, db }) => ({
  ended: await endSessions(db, caller, params.sessionId),
}));
