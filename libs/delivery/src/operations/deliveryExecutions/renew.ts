import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { requireHolderWithoutTarget, writeAndRenewLease } from '../../leases/execution-holder.ts';
import { requestedTtlSeconds } from '../renewal.ts';

export const renew = handle(registry.deliveryExecutions.renew, async (context) => {
  const [ttlSeconds, holder] = await Promise.all([
    requestedTtlSeconds(context),
    requireHolderWithoutTarget(context, context.params),
  ]);
  return writeAndRenewLease(context, holder, 'renew', { ttlSeconds });
});
