import { shortenable } from '@muster/database';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listEvents } from '../../leases/events.ts';

export const eventsSince = handle(
  registry.deliveryExecutions.eventsSince,
  async ({ params, db }) => {
    const { executionId, afterSeq, limit } = params;
    const items = await listEvents(db, executionId, { afterSeq, limit });
    const upTo = (count: number) => ({
      items: items.slice(0, count),
      lastSeq: items[count - 1]?.seq ?? afterSeq,
    });
    return shortenable(upTo(items.length), upTo);
  },
  {
    waitsFor: ({ executionId, afterSeq, waitSeconds }, { items }) =>
      waitSeconds === 0 || items.length > 0 ? null : { executionId, afterSeq, seconds: waitSeconds },
  },
);
