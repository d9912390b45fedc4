import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSpec } from '../../data/specs.ts';

export const get = handle(registry.storySpec.get, async ({ params, db }) => ({
  spec: await getSpec(db, params.storyId, params.version),
}));
