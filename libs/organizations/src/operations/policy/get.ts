import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getPolicy } from '../../data/policy.ts';

export const get = handle(registry.policy.get, async ({ db }) => ({
  policy: await getPolicy(db),
}));
