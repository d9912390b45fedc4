import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import {
  requireHolderWithoutTarget,
  withReportedUsage,
  writeAndRenewLease,
} from '../../leases/execution-holder.ts';
import { requestedTtlSeconds } from '../renewal.ts';

export const renew = handle(deliveryRegistry.deliveryExecutions.renew, async (context) => {
  const [ttlSeconds, holder] = await Promise.all([
    requestedTtlSeconds(context),
    requireHolderWithoutTarget(context, context.params),
  ]);
  const reported = await withReportedUsage(context, holder, context.params.usage);
  return writeAndRenewLease(context, reported, 'renew', { ttlSeconds });
});
