import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { endSessions } from '../../data/sessions.ts';

export const revokeOthers = handle(registry.sessions.revokeOthers, async ({ caller, db }) => ({
  ended: await endSessions(db, caller, null),
}));
