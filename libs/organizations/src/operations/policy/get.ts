import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { getPolicy } from '../../data/policy.ts';

export const get = handle(organizationsRegistry.policy.get, async ({ db }) => ({
  policy: await getPolicy(db),
}));
