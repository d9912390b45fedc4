import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { acquireTarget } from './granting.ts';
import { reissueToken } from './reissue.ts';

export const acquire = handle(
  deliveryRegistry.deliveryExecutions.acquire,
  (context) =>
    acquireTarget(context, context.params.targetType, context.targetId, {
      ...context.params,
      isTargetNamed: true,
    }),
  {
    reissueSecret: async (context, kept) => ({
      ...kept,
      leaseToken: await reissueToken(context, kept.execution),
    }),
  },
);
