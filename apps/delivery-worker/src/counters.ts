/** Counters of this process since its start, exported as metrics. */
import { type Metrics } from '@muster/http';

const counterDefinitions = {
  expiredLeases: {
    name: 'muster_lease_expiries_total',
    help: 'Expired leases that this process recorded',
  },
  driftedSeats: {
    name: 'muster_seat_drift_total',
    help: 'Organizations whose stored number of seats this process corrected',
  },
  removedRows: {
    name: 'muster_removed_rows_total',
    help: 'Rows of deleted projects and organizations that this process removed',
  },
  delivered: {
    name: 'muster_webhook_delivered_total',
    help: 'Webhook messages delivered by this process',
  },
  failed: {
    name: 'muster_webhook_failed_tries_total',
    help: 'Failed webhook attempts of this process',
  },
} as const;

export type IncrementCounter = (counter: keyof typeof counterDefinitions, amount?: number) => void;

export function addCounters(metrics: Metrics): IncrementCounter {
  const counted = { expiredLeases: 0, driftedSeats: 0, removedRows: 0, delivered: 0, failed: 0 };
  for (const what of Object.keys(counterDefinitions) as (keyof typeof counterDefinitions)[]) {
    const { name, help } = counterDefinitions[what];
    metrics.addCounter(name, help, () => counted[what]);
  }
  return (what, by = 1) => {
    counted[what] += by;
  };
}
