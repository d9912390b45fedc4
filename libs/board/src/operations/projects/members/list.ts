import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listParticipants } from '../../../data/project-members.ts';

export const list = handle(boardRegistry.projects.members.list, ({ params, targetId, db }) =>
  listParticipants(db, targetId, params),
);
