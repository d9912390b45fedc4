import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listSessions } from '../../data/sessions.ts';

export const list = handle(organizationsRegistry.sessions.list, ({ params, caller, db }) =>
  listSessions(db, caller, params),
);
