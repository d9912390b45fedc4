import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSpec } from '../../data/specs.ts';

export const get = handle(registry.storySpec.get, async ({ params, caller, db }) => ({
  spec: await getSpec(db, caller.orgId, params.storyId, params.version),
}));
