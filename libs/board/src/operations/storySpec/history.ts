import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listSpecVersions } from '../../data/specs.ts';

export const history = handle(boardRegistry.storySpec.history, ({ params, targetId, db }) =>
  listSpecVersions(db, targetId, params),
);
