import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listParticipants } from '../../../data/project-members.ts';

export const list = handle(registry.projects.members.list, ({ params, targetId, db }) =>
  listParticipants(db, targetId, params),
);
