import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listAccessRequests } from '../../../data/access-requests.ts';

export const list = handle(boardRegistry.projects.accessRequests.list, ({ params, targetId, db }) =>
  listAccessRequests(db, targetId, params),
);
