import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { askedTtl } from '../renewal.ts';
import { asCoordinator, goOn } from './as-coordinator.ts';

export const renewLease = handle(registry.deliveryGroups.renewLease, async (context) => {
  const [ttlSeconds, grip] = await Promise.all([
    askedTtl(context),
    asCoordinator(context, context.params, 'renewLease'),
  ]);
  if (grip.kind === 'repeated') return grip.answer;
  return goOn(context, grip, { ttlSeconds });
});
