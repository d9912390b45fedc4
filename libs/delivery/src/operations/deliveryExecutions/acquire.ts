import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { acquireTarget } from './granting.ts';
import { reissuedToken } from './reissue.ts';

export const acquire = handle(
  registry.deliveryExecutions.acquire,
  (context) =>
    acquireTarget(context, context.params.targetType, context.targetId, { ...context.params, isNamed: true }),
  {
    reissue: async (context, kept) => ({
      ...kept,
      leaseToken: await reissuedToken(context, kept.execution),
    }),
  },
);
