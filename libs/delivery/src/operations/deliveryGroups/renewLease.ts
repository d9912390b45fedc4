import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { renewedTtl } from '../../rules/ttl.ts';
import { asCoordinator, goOn } from './as-coordinator.ts';

export const renewLease = handle(registry.deliveryGroups.renewLease, async (context) => {
  const { params, policy: askPolicy } = context;
  const [policy, grip] = await Promise.all([askPolicy(), asCoordinator(context, params, 'renewLease')]);
  if (grip.kind === 'repeated') return grip.answer;
  return goOn(context, grip, { ttlSeconds: renewedTtl(params.ttlSeconds, grip.lease.ttl_seconds, policy) });
});
