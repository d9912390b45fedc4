import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listEvents } from '../../data/events.ts';

export const eventsSince = handle(
  registry.deliveryExecutions.eventsSince,
  async ({ params, caller, db }) => {
    const { executionId, afterSeq, limit } = params;
    const items = await listEvents(db, caller.orgId, executionId, { afterSeq, limit });
    return { items, lastSeq: items.at(-1)?.seq ?? afterSeq };
  },
  {
    waitsFor: ({ executionId, afterSeq, waitSeconds }, { items }) =>
      waitSeconds === 0 || items.length > 0 ? null : { executionId, afterSeq, seconds: waitSeconds },
  },
);
