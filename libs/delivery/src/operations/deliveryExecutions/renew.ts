import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { renewedTtl } from '../../rules/ttl.ts';
import { asQuietHolder, goOn } from './as-holder.ts';

export const renew = handle(registry.deliveryExecutions.renew, async (context) => {
  const { params, policy: askPolicy } = context;
  const [policy, grip] = await Promise.all([askPolicy(), asQuietHolder(context, params, 'renew')]);
  if (grip.kind === 'repeated') return { execution: grip.execution, signals: [] };
  return goOn(context, grip, { ttlSeconds: renewedTtl(params.ttlSeconds, grip.lease.ttl_seconds, policy) });
});
