import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listSessions } from '../../data/sessions.ts';

export const list = handle(registry.sessions.list, ({ params, caller, db }) =>
  listSessions(db, caller, params),
);
