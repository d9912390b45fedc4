import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getSpec } from '../../data/specs.ts';

export const get = handle(boardRegistry.storySpec.get, async ({ params, targetId, db }) => ({
  spec: await getSpec(db, targetId, params.version),
}));
