import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { endSessions } from '../../data/sessions.ts';

export const revoke = handle(registry.sessions.revoke, async ({ params, caller, db }) => ({
  ended: await endSessions(db, caller, params.sessionId),
}));
