/** What stands on the dashboard: rows of panels, and what each asks Prometheus. */

interface Query {
  readonly expr: string;
  readonly legend?: string;
}

export interface PanelPlan {
  readonly title: string;
  /** What it tells, in a sentence, for whoever looks at it at night. */
  readonly tells: string;
  readonly unit: 'short' | 's' | 'ops' | 'percentunit' | 'bytes' | 'bool_on_off';
  readonly queries: readonly Query[];
  /** A number on top with the value from which it is red; a curve where there is none. */
  readonly redFrom?: number;
}

const api = 'service="coordination-api"';
const gateway = 'service="mcp-gateway"';
const licenses = 'service="license-service"';
/** Those wait as long as their callers ask them to. */
const waits = 'operation!~"deliveryExecutions.eventsSince|events.list"';

const quantile = (
  q: number,
  by: string,
  selector: string,
  metric = 'muster_operation_duration_seconds',
): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket{${selector}}[$__rate_interval])))`;
const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
/** Figures of the database are the same from every worker. */
const figure = (metric: string, by: string): string => `max by (${by}) (${metric})`;

export const plan: readonly (readonly [row: string, panels: readonly PanelPlan[]])[] = [
  [
    'Is coordination healthy?',
    [
      {
        title: 'Away',
        tells:
          'What a service stands on and does not reach; services that are gone altogether show as an alert.',
        unit: 'short',
        redFrom: 1,
        queries: [{ expr: 'count(min by (service, dependency) (muster_dependency_up) == 0) or vector(0)' }],
      },
      {
        title: 'Faults per second',
        tells: 'Answers 500: something in Muster is wrong.',
        unit: 'ops',
        redFrom: 0.01,
        queries: [{ expr: 'sum(rate(muster_errors_total{code="internal"}[5m])) or vector(0)' }],
      },
      {
        title: 'Slowest 1 % of operations',
        tells: 'The API, without calls that wait because they were asked to.',
        unit: 's',
        redFrom: 1,
        queries: [{ expr: quantile(0.99, '', `${api}, ${waits}`) }],
      },
      {
        title: 'Outbox lag',
        tells: 'For how long what is due has waited for its dispatch: seconds are well, minutes are not.',
        unit: 's',
        redFrom: 60,
        queries: [{ expr: 'max(muster_outbox_lag_seconds) or vector(0)' }],
      },
      {
        title: 'Given up',
        tells: 'Jobs that failed twelve times and wait for a replay.',
        unit: 'short',
        redFrom: 1,
        queries: [{ expr: 'sum(max by (topic) (muster_outbox_dead)) or vector(0)' }],
      },
      {
        title: 'Stalled executions',
        tells: 'Work whose holder fell silent and that nobody took up.',
        unit: 'short',
        redFrom: 10,
        queries: [{ expr: 'max(muster_executions{state="stalled"})' }],
      },
    ],
  ],
  [
    'Leases and executions',
    [
      {
        title: 'Executions by state',
        tells: 'Those that are not completed.',
        unit: 'short',
        queries: [{ expr: figure('muster_executions', 'state'), legend: '{{state}}' }],
      },
      {
        title: 'Leases by state',
        tells: 'Held and live, or past their time and not taken by anybody yet.',
        unit: 'short',
        queries: [{ expr: figure('muster_leases', 'state'), legend: '{{state}}' }],
      },
      {
        title: 'What happens to leases',
        tells: 'Taken, kept, given back, and ended because nobody renewed them.',
        unit: 'ops',
        queries: [
          {
            expr: rate(
              `muster_operations_total{${api}, operation=~"deliveryExecutions\\\\.(acquire|renew|handoff|release|complete)", outcome="ok"}`,
              'operation',
            ),
            legend: '{{operation}}',
          },
          { expr: 'sum(rate(muster_lease_expiries_total[$__rate_interval]))', legend: 'expired' },
        ],
      },
      {
        title: 'Refused because somebody else was first',
        tells: 'Leases held, leases lost, locks in the way, versions that had moved on.',
        unit: 'ops',
        queries: [
          {
            expr: rate(
              `muster_errors_total{${api}, reason=~"lease_held|stale_lease|lock_held|in_active_group|reserved|version_mismatch"}`,
              'reason',
            ),
            legend: '{{reason}}',
          },
        ],
      },
    ],
  ],
  [
    'Operations',
    [
      {
        title: 'Calls by operation',
        tells: 'The fifteen that are called most.',
        unit: 'ops',
        queries: [
          {
            expr: `topk(15, ${rate(`muster_operations_total{${api}}`, 'operation')})`,
            legend: '{{operation}}',
          },
        ],
      },
      {
        title: 'How long they take',
        tells: 'Over all operations that do not wait.',
        unit: 's',
        queries: [0.5, 0.95, 0.99].map((q) => ({
          expr: quantile(q, '', `${api}, ${waits}`),
          legend: `p${q * 100}`,
        })),
      },
      {
        title: 'The slowest operations',
        tells: 'The slowest 5 % of each, the ten slowest of them.',
        unit: 's',
        queries: [
          { expr: `topk(10, ${quantile(0.95, 'operation', `${api}, ${waits}`)})`, legend: '{{operation}}' },
        ],
      },
      {
        title: 'Errors by reason',
        tells: 'Refusals are answers; faults and 503 are not.',
        unit: 'ops',
        queries: [
          {
            expr: `topk(15, ${rate(`muster_errors_total{${api}}`, 'code, reason')})`,
            legend: '{{code}} {{reason}}',
          },
        ],
      },
      {
        title: 'Turned away',
        tells: 'Before any work: at the cap, or at a limit.',
        unit: 'ops',
        queries: [
          {
            expr: rate('muster_errors_total{reason="overload"}', 'service, reason'),
            legend: '{{service}} {{reason}}',
          },
          {
            expr: rate('muster_errors_total{code="rate_limited"}', 'service, reason'),
            legend: '{{service}} {{reason}}',
          },
        ],
      },
      {
        title: 'In flight',
        tells:
          'Requests that are being answered, and those that wait for events and take no place of theirs.',
        unit: 'short',
        queries: [
          { expr: 'sum by (service) (muster_requests_in_flight)', legend: '{{service}}' },
          { expr: 'sum by (service) (muster_requests_waiting)', legend: '{{service}} waiting' },
        ],
      },
    ],
  ],
  [
    'What follows: outbox, queues, jobs',
    [
      {
        title: 'Not done yet',
        tells: 'Rows of the outbox by topic.',
        unit: 'short',
        queries: [{ expr: figure('muster_outbox_undone', 'topic'), legend: '{{topic}}' }],
      },
      {
        title: 'The oldest of them',
        tells: 'Its age by topic; one that fails and is tried again grows old here.',
        unit: 's',
        queries: [{ expr: figure('muster_outbox_oldest_undone_seconds', 'topic'), legend: '{{topic}}' }],
      },
      {
        title: 'Jobs by outcome',
        tells: 'Skipped ones found nothing left to do.',
        unit: 'ops',
        queries: [{ expr: rate('muster_jobs_total', 'name, outcome'), legend: '{{name}} {{outcome}}' }],
      },
      {
        title: 'How long jobs take',
        tells: 'The slowest 5 % of each.',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'name', 'service="delivery-worker"', 'muster_job_duration_seconds'),
            legend: '{{name}}',
          },
        ],
      },
      {
        title: 'Deleted, and still to be removed',
        tells: 'Projects and organizations whose rows the worker still removes; it goes on after a stop.',
        unit: 'short',
        queries: [{ expr: figure('muster_deletions', 'of'), legend: '{{of}}' }],
      },
      {
        title: 'Rows removed',
        tells: 'Of deleted projects and organizations, a second.',
        unit: 'ops',
        queries: [{ expr: 'sum(rate(muster_removed_rows_total[$__rate_interval]))' }],
      },
      {
        title: 'Seat counts that had drifted',
        tells: 'Organizations whose stored count of seats the nightly job corrected.',
        unit: 'short',
        queries: [{ expr: 'sum(increase(muster_seat_drift_total[1d]))' }],
      },
      {
        title: 'In the queues',
        tells: 'What is with the workers, or waits for one.',
        unit: 'short',
        queries: [{ expr: figure('muster_queue_jobs', 'queue, state'), legend: '{{queue}} {{state}}' }],
      },
      {
        title: 'Leases nobody was told of',
        tells: 'For how long one has been past its time before its end was made known.',
        unit: 's',
        queries: [{ expr: 'max(muster_lease_sweep_lag_seconds)', legend: 'lag' }],
      },
      {
        title: 'Webhooks',
        tells: 'Endpoints that are active, failing since their last try, or paused.',
        unit: 'short',
        queries: [{ expr: figure('muster_webhooks', 'state'), legend: '{{state}}' }],
      },
      {
        title: 'Messages of webhooks',
        tells: 'A second: those that were delivered, and tries that failed.',
        unit: 'ops',
        queries: [
          { expr: 'sum(rate(muster_webhook_delivered_total[$__rate_interval]))', legend: 'delivered' },
          { expr: 'sum(rate(muster_webhook_failed_tries_total[$__rate_interval]))', legend: 'failed' },
        ],
      },
      {
        title: 'Webhooks that wait for a worker',
        tells: 'For how long one has been due and no worker has taken it.',
        unit: 's',
        queries: [{ expr: 'max(muster_webhook_lag_seconds)', legend: 'lag' }],
      },
    ],
  ],
  [
    'The gateway and licenses',
    [
      {
        title: 'Tools called',
        tells: 'By tool, the fifteen that are called most; mcp is the protocol itself.',
        unit: 'ops',
        queries: [
          {
            expr: `topk(15, ${rate(`muster_operations_total{${gateway}}`, 'operation')})`,
            legend: '{{operation}}',
          },
        ],
      },
      {
        title: 'How tools end',
        tells: 'By outcome.',
        unit: 'ops',
        queries: [{ expr: rate(`muster_operations_total{${gateway}}`, 'outcome'), legend: '{{outcome}}' }],
      },
      {
        title: 'License verdicts',
        tells: 'What activations, checks and releases were answered.',
        unit: 'ops',
        queries: [
          {
            expr: rate(`muster_operations_total{${licenses}}`, 'operation, outcome'),
            legend: '{{operation}} {{outcome}}',
          },
        ],
      },
      {
        title: 'How long licenses take',
        tells: 'The slowest 1 % of each.',
        unit: 's',
        queries: [{ expr: quantile(0.99, 'operation', licenses), legend: '{{operation}}' }],
      },
    ],
  ],
  [
    'Processes',
    [
      {
        title: 'Connections to Postgres',
        tells: 'Busy ones, and how many there can be.',
        unit: 'short',
        queries: [
          { expr: 'sum by (service) (muster_pool_connections{state="busy"})', legend: '{{service}} busy' },
          { expr: 'sum by (service) (muster_pool_connections_max)', legend: '{{service}} most' },
        ],
      },
      {
        title: 'Waiting for a connection',
        tells: 'Now and then one is well; always some is a pool too small, or a Postgres too slow.',
        unit: 'short',
        queries: [{ expr: 'sum by (service) (muster_pool_waiting)', legend: '{{service}}' }],
      },
      {
        title: 'Event loop lag',
        tells: 'For how long a process did nothing else, in the slowest 1 % of its turns.',
        unit: 's',
        queries: [{ expr: figure('nodejs_eventloop_lag_p99_seconds', 'service'), legend: '{{service}}' }],
      },
      {
        title: 'Memory',
        tells: 'Of the largest process of each service.',
        unit: 'bytes',
        queries: [{ expr: figure('process_resident_memory_bytes', 'service'), legend: '{{service}}' }],
      },
      {
        title: 'Processor time',
        tells: 'Cores in use, over all processes of a service.',
        unit: 'short',
        queries: [{ expr: rate('process_cpu_seconds_total', 'service'), legend: '{{service}}' }],
      },
      {
        title: 'What services stand on',
        tells: '1 is there, 0 is away for at least one process.',
        unit: 'bool_on_off',
        queries: [
          {
            expr: 'min by (service, dependency) (muster_dependency_up)',
            legend: '{{service}} {{dependency}}',
          },
        ],
      },
    ],
  ],
];
