/** Prometheus metrics: the process's own, and one histogram and counter per operation or job. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** One thing that happened: how it ended, and how long it took. */
export type Count = (outcome: string, seconds: number) => void;

export interface Figure {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Metrics {
  readonly registry: Registry;
  /** Prepares the series of an operation once, so that counting a call is an addition. */
  operation(name: string): Count;
  /** The same of a job. */
  job(name: string): Count;
  /** Figures that are looked up when metrics are read; where that fails they are missing. */
  figures(
    name: string,
    help: string,
    labels: readonly string[],
    look: () => Promise<readonly Figure[]>,
  ): void;
  /** What is counted elsewhere, as it stands when metrics are read. */
  total(name: string, help: string, read: () => number): void;
  /** Counts one thing by what became of it; each of `values` is there from the start. */
  tally<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ): (value: Value) => void;
  /** The connections of a pool. */
  pool(pool: PoolLevels): void;
  /** A request was answered with an error; `none` before its operation is known. */
  failed(operation: string, code: string, reason: string): void;
  /** How many requests there are when metrics are read. */
  levels(read: () => { readonly inFlight: number; readonly waiting: number }): void;
}

/** As pg's pools have them. */
export interface PoolLevels {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Statements that wait for a connection. */
  readonly waitingCount: number;
  readonly options: { readonly max?: number | undefined };
}

/** Reasons are as many as the code has; past this something says what callers wrote, and that must not grow the series. */
const mostReasons = 200;

/** From 1 ms, a point read, to 10 s, past every timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const failed = errorsIn(registry);
  const figures = figuresIn(registry);
  return {
    registry,
    levels: (read) => {
      showRequests(figures, read);
    },
    operation: countBy(registry, 'operation', {
      duration: 'How long operations took, from the first byte to the answer',
      outcomes: 'Operations by outcome: ok, replayed, or the code of the error',
    }),
    job: countBy(registry, 'job', {
      duration: 'How long jobs took, from the queue to the commit',
      outcomes: 'Jobs by outcome: done, skipped where there was nothing to do any more, or failed',
    }),
    failed,
    figures,
    total: totalIn(registry),
    tally: tallyIn(registry),
    pool: (pool) => {
      showPool(figures, pool);
    },
  };
}

function errorsIn(registry: Registry): Metrics['failed'] {
  const errors = new Counter({
    name: 'muster_errors_total',
    help: 'Answers with an error, by operation (none before it is known), code and reason',
    labelNames: ['operation', 'code', 'reason'],
    registers: [registry],
  });
  const reasonsSeen = new Set<string>();
  return (operation, code, reason) => {
    const known = reasonsSeen.has(reason) || reasonsSeen.size < mostReasons;
    if (known) reasonsSeen.add(reason);
    errors.labels(operation, code, known ? reason : 'other').inc();
  };
}

const figuresIn =
  (registry: Registry): Metrics['figures'] =>
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

const totalIn =
  (registry: Registry): Metrics['total'] =>
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

const tallyIn =
  (registry: Registry): Metrics['tally'] =>
  (name, help, label, values) => {
    const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
    for (const value of values) counter.labels(value).inc(0);
    return (value) => {
      counter.labels(value).inc();
    };
  };

/** A figure without labels. */
const alone = (read: () => number) => async () => [{ labels: {}, value: read() }];

function showRequests(figures: Metrics['figures'], read: Parameters<Metrics['levels']>[0]): void {
  figures(
    'muster_requests_in_flight',
    'Requests being answered',
    [],
    alone(() => read().inFlight),
  );
  figures(
    'muster_requests_waiting',
    'Requests that wait for something to happen, and take no place among those being answered',
    [],
    alone(() => read().waiting),
  );
}

function showPool(figures: Metrics['figures'], pool: PoolLevels): void {
  const levels = (): Figure[] => [
    { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
    { labels: { state: 'idle' }, value: pool.idleCount },
  ];
  figures('muster_pool_connections', 'Connections to Postgres', ['state'], async () => levels());
  figures(
    'muster_pool_connections_max',
    'Connections to Postgres at most',
    [],
    alone(() => pool.options.max ?? 0),
  );
  figures(
    'muster_pool_waiting',
    'Who waits for a connection to Postgres',
    [],
    // Those for whom one is idle have it with the next turn; the look at Postgres that goes with this one is among them.
    alone(() => Math.max(0, pool.waitingCount - pool.idleCount)),
  );
}

function countBy(
  registry: Registry,
  what: 'operation' | 'job',
  help: { readonly duration: string; readonly outcomes: string },
): (name: string) => Count {
  // `job` is a label that Prometheus gives to all that it reads: one of ours by that name would be renamed.
  const label = what === 'job' ? 'name' : what;
  const durations = new Histogram({
    name: `muster_${what}_duration_seconds`,
    help: help.duration,
    labelNames: [label],
    buckets,
    registers: [registry],
  });
  const outcomes = new Counter({
    name: `muster_${what}s_total`,
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
