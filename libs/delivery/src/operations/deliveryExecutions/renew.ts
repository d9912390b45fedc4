import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { grantedTtl } from '../../rules/ttl.ts';
import { asQuietHolder, goOn } from './as-holder.ts';

export const renew = handle(registry.deliveryExecutions.renew, async (context) => {
  const { params, policy: askPolicy } = context;
  const { ttlSeconds } = params;
  // A renewal keeps the time that was given, unless another is asked for.
  const [policy, grip] = await Promise.all([
    ttlSeconds === undefined ? undefined : askPolicy(),
    asQuietHolder(context, params, 'renew'),
  ]);
  if (grip.kind === 'repeated') return { execution: grip.execution, signals: [] };
  if (policy === undefined) return goOn(context, grip, {});
  const { defaultLeaseTtlSeconds: usual, maxLeaseTtlSeconds: most } = policy;
  return goOn(context, grip, { ttlSeconds: grantedTtl(ttlSeconds, usual, most) });
});
