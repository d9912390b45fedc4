/** Defines Prometheus metrics: those of the process, and a histogram and a counter per operation or job. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Records one call or job with its outcome and its duration. */
export type CountOutcome = (outcome: string, seconds: number) => void;

export interface GaugeValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Metrics {
  readonly registry: Registry;
  /** Prepares the metric series of an operation once, so that counting a call is a single addition. */
  createOperationCounter(name: string): CountOutcome;
  /** Prepares the metric series of a job. */
  createJobCounter(name: string): CountOutcome;
  /**
   * Adds gauges whose values are looked up when metrics are read. If the lookup fails, the metrics do not
   * contain these gauges.
   */
  addGauges(
    name: string,
    help: string,
    labels: readonly string[],
    readValues: () => Promise<readonly GaugeValue[]>,
  ): void;
  /** Adds a counter whose value is kept elsewhere and read with the metrics. */
  addCounter(name: string, help: string, read: () => number): void;
  /** Adds a counter with one label. A metric series exists for each of `values` from the start. */
  addLabeledCounter<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ): (value: Value) => void;
  /** Adds metrics about the connections of a Postgres pool. */
  addPoolGauges(pool: PoolStats): void;
  /** Counts an error response. The operation is `none` before it is known. */
  countError(operation: string, code: string, reason: string): void;
  /**
   * Adds gauges for the number of requests in flight and waiting. `read` is called when the metrics are read.
   */
  addRequestGauges(read: () => { readonly inFlight: number; readonly waiting: number }): void;
}

/** The connection counts of a pool, named as in pg. */
export interface PoolStats {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Statements that wait for a connection. */
  readonly waitingCount: number;
  readonly options: { readonly max?: number | undefined };
}

/**
 * The maximum number of different reasons. There are as many as the code defines. More would mean that a
 * reason contains caller input, which must not create metric series.
 */
const maxReasons = 200;

/** The bucket limits in seconds, from 1 ms (a point read) to 10 s (beyond every timeout). */
const durationBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const failed = createErrorCounter(registry);
  const figures = createGaugeAdder(registry);
  return {
    registry,
    addRequestGauges: (read) => {
      addRequestSlotGauges(figures, read);
    },
    createOperationCounter: createOutcomeCounter(registry, 'operation', {
      duration: 'Duration of operations, from the first byte of the request to the response',
      outcomes: 'Operations by outcome: ok, replayed, or the error code',
    }),
    createJobCounter: createOutcomeCounter(registry, 'job', {
      duration: 'Duration of jobs, from enqueueing to the commit',
      outcomes: 'Jobs by outcome: done, skipped (nothing left to do), or failed',
    }),
    countError: failed,
    addGauges: figures,
    addCounter: createCounterAdder(registry),
    addLabeledCounter: createLabeledCounterAdder(registry),
    addPoolGauges: (pool) => {
      addConnectionGauges(figures, pool);
    },
  };
}

function createErrorCounter(registry: Registry): Metrics['countError'] {
  const errors = new Counter({
    name: 'muster_errors_total',
    help: 'Error responses by operation (none if it is not known yet), code and reason',
    labelNames: ['operation', 'code', 'reason'],
    registers: [registry],
  });
  const reasonsSeen = new Set<string>();
  return (operation, code, reason) => {
    const known = reasonsSeen.has(reason) || reasonsSeen.size < maxReasons;
    if (known) reasonsSeen.add(reason);
    errors.labels(operation, code, known ? reason : 'other').inc();
  };
}

const createGaugeAdder =
  (registry: Registry): Metrics['addGauges'] =>
  (name, help, labels, look) => {
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      async collect() {
        this.reset();
        for (const { labels: of, value } of await look().catch(() => [])) this.set(of, value);
      },
    });
  };

const createCounterAdder =
  (registry: Registry): Metrics['addCounter'] =>
  (name, help, read) => {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  };

const createLabeledCounterAdder =
  (registry: Registry): Metrics['addLabeledCounter'] =>
  (name, help, label, values) => {
    const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
    for (const value of values) counter.labels(value).inc(0);
    return (value) => {
      counter.labels(value).inc();
    };
  };

/** Wraps a value as a gauge without labels. */
const unlabeledGauge = (read: () => number) => async () => [{ labels: {}, value: read() }];

function addRequestSlotGauges(
  figures: Metrics['addGauges'],
  read: Parameters<Metrics['addRequestGauges']>[0],
): void {
  figures(
    'muster_requests_in_flight',
    'Requests in progress',
    [],
    unlabeledGauge(() => read().inFlight),
  );
  figures(
    'muster_requests_waiting',
    'Requests that wait for an event and occupy no request slot',
    [],
    unlabeledGauge(() => read().waiting),
  );
}

function addConnectionGauges(figures: Metrics['addGauges'], pool: PoolStats): void {
  const levels = (): GaugeValue[] => [
    { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
    { labels: { state: 'idle' }, value: pool.idleCount },
  ];
  figures('muster_pool_connections', 'Open connections to Postgres', ['state'], async () => levels());
  figures(
    'muster_pool_connections_max',
    'Maximum number of connections to Postgres',
    [],
    unlabeledGauge(() => pool.options.max ?? 0),
  );
  figures(
    'muster_pool_waiting',
    'Callers waiting for a connection to Postgres',
    [],
    // A waiting statement for which an idle connection exists gets that connection in the next turn of the
    // event loop, so it is not counted. One of these statements is the query that runs with this reading of
    // the metrics.
    unlabeledGauge(() => Math.max(0, pool.waitingCount - pool.idleCount)),
  );
}

function createOutcomeCounter(
  registry: Registry,
  kind: 'operation' | 'job',
  help: { readonly duration: string; readonly outcomes: string },
): (name: string) => CountOutcome {
  // Prometheus adds the label `job` to everything that it scrapes, and would rename a label of that name.
  const label = kind === 'job' ? 'name' : kind;
  const durations = new Histogram({
    name: `muster_${kind}_duration_seconds`,
    help: help.duration,
    labelNames: [label],
    buckets: durationBucketsSeconds,
    registers: [registry],
  });
  const outcomes = new Counter({
    name: `muster_${kind}s_total`,
    help: help.outcomes,
    labelNames: [label, 'outcome'],
    registers: [registry],
  });
  return (name) => {
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
  };
}
