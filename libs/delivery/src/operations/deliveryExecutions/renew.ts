import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { asQuietHolder, renewAndAnswer } from '../../leases/execution-holder.ts';
import { askedTtl } from '../renewal.ts';

export const renew = handle(registry.deliveryExecutions.renew, async (context) => {
  const [ttlSeconds, holder] = await Promise.all([askedTtl(context), asQuietHolder(context, context.params)]);
  return renewAndAnswer(context, holder, 'renew', { ttlSeconds });
});
