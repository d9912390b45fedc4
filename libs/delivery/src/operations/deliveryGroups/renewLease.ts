import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { grantedTtl } from '../../rules/ttl.ts';
import { asCoordinator, goOn } from './as-coordinator.ts';

export const renewLease = handle(registry.deliveryGroups.renewLease, async (context) => {
  const { params, policy: askPolicy } = context;
  const { ttlSeconds } = params;
  // A renewal keeps the time that was given, unless another is asked for.
  const [policy, grip] = await Promise.all([
    ttlSeconds === undefined ? undefined : askPolicy(),
    asCoordinator(context, params, 'renewLease'),
  ]);
  if (grip.kind === 'repeated') return grip.answer;
  if (policy === undefined) return goOn(context, grip, {});
  const { defaultLeaseTtlSeconds: usual, maxLeaseTtlSeconds: most } = policy;
  return goOn(context, grip, { ttlSeconds: grantedTtl(ttlSeconds, usual, most) });
});
