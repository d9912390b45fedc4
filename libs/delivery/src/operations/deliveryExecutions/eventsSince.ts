import { makeShortenable } from '@muster/driver';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { listEvents } from '../../leases/events.ts';

export const eventsSince = handle(
  deliveryRegistry.deliveryExecutions.eventsSince,
  async ({ params, db, waitForNewEvents }) => {
    const { executionId, afterSeq, limit, waitSeconds } = params;
    const items = await listEvents(db, executionId, { afterSeq, limit });
    if (items.length === 0 && waitSeconds > 0)
      waitForNewEvents({ position: { executionId, afterSeq }, timeoutSeconds: waitSeconds });
    const upTo = (count: number) => ({
      items: items.slice(0, count),
      lastSeq: items[count - 1]?.seq ?? afterSeq,
    });
    return makeShortenable(upTo(items.length), upTo);
  },
);
