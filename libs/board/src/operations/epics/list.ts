import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listEpics } from '../../data/epics.ts';

export const list = handle(registry.epics.list, ({ params, targetId, db }) =>
  listEpics(db, targetId, params),
);
