/** Counters of this process since its start, exported as metrics. */
import { type Metrics } from '@muster/http';

const totals = {
  expiredLeases: {
    name: 'muster_lease_expiries_total',
    help: 'Leases that ended because nobody renewed them, made known by this process',
  },
  driftedSeats: {
    name: 'muster_seat_drift_total',
    help: 'Organizations whose stored count of seats this process found wrong and corrected',
  },
  removedRows: {
    name: 'muster_removed_rows_total',
    help: 'Rows of deleted projects and organizations that this process removed',
  },
  delivered: {
    name: 'muster_webhook_delivered_total',
    help: 'Messages of webhooks that this process delivered',
  },
  failed: {
    name: 'muster_webhook_failed_tries_total',
    help: 'Tries of webhooks of this process that failed',
  },
} as const;

export type CountTotal = (what: keyof typeof totals, by?: number) => void;

export function addCounters(metrics: Metrics): CountTotal {
  const counted = { expiredLeases: 0, driftedSeats: 0, removedRows: 0, delivered: 0, failed: 0 };
  for (const what of Object.keys(totals) as (keyof typeof totals)[]) {
    const { name, help } = totals[what];
    metrics.total(name, help, () => counted[what]);
  }
  return (what, by = 1) => {
    counted[what] += by;
  };
}
