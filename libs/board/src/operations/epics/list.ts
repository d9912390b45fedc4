import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listEpics } from '../../data/epics.ts';

export const list = handle(boardRegistry.epics.list, ({ params, targetId, db }) =>
  listEpics(db, targetId, params),
);
