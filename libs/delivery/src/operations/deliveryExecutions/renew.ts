import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { grantedTtl } from '../../rules/ttl.ts';
import { asHolder, goOn } from './as-holder.ts';

export const renew = handle(registry.deliveryExecutions.renew, async (context) => {
  const { params, policy: askPolicy } = context;
  const [policy, grip] = await Promise.all([askPolicy(), asHolder(context, params, 'renew')]);
  if (grip.kind === 'repeated') return { execution: grip.execution, signals: [] };
  const ttlSeconds =
    params.ttlSeconds === undefined
      ? (grip.lease.ttl_seconds ?? policy.defaultLeaseTtlSeconds)
      : grantedTtl(params.ttlSeconds, policy.defaultLeaseTtlSeconds, policy.maxLeaseTtlSeconds);
  return goOn(context, grip, { ttlSeconds });
});
