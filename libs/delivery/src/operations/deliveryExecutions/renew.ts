import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { askedTtl } from '../renewal.ts';
import { asQuietHolder, goOn } from './as-holder.ts';

export const renew = handle(registry.deliveryExecutions.renew, async (context) => {
  const [ttlSeconds, grip] = await Promise.all([
    askedTtl(context),
    asQuietHolder(context, context.params, 'renew'),
  ]);
  if (grip.kind === 'repeated') return { execution: grip.execution, signals: [] };
  return goOn(context, grip, { ttlSeconds });
});
