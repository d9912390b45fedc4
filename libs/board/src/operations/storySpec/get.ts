import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSpec } from '../../data/specs.ts';

export const get = handle(registry.storySpec.get, async ({ params, targetId, db }) => ({
  spec: await getSpec(db, targetId, params.version),
}));
