/** Prometheus metrics: the process's own, and one histogram and counter per operation. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  /** Prepares the series of an operation once, so that counting a call is an addition. */
  operation(name: string): (outcome: string, seconds: number) => void;
  readonly inFlight: Gauge;
}

/** From 1 ms, a point read, to 10 s, past every timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'muster_operation_duration_seconds',
    help: 'How long operations took, from the first byte to the answer',
    labelNames: ['operation'],
    buckets,
    registers: [registry],
  });
  const outcomes = new Counter({
    name: 'muster_operations_total',
    help: 'Operations by outcome: ok, replayed, or the code of the error',
    labelNames: ['operation', 'outcome'],
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'muster_requests_in_flight',
    help: 'Requests being answered',
    registers: [registry],
  });
  return {
    registry,
    inFlight,
    operation: (name) => {
      const duration = durations.labels(name);
      const counters = new Map<string, Counter.Internal>();
      return (outcome, seconds) => {
        duration.observe(seconds);
        let counter = counters.get(outcome);
        if (counter === undefined) {
          counter = outcomes.labels(name, outcome);
          counters.set(outcome, counter);
        }
        counter.inc();
      };
    },
  };
}
