import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAccessRequests } from '../../../data/access-requests.ts';

export const list = handle(registry.projects.accessRequests.list, ({ params, targetId, db }) =>
  listAccessRequests(db, targetId, params),
);
