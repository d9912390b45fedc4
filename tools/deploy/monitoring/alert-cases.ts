/** When each alert fires and when it does not, as series of one value a minute in the notation of `promtool test rules`. */

export interface AlertCase {
  readonly alert: string;
  /** In place of what is so while all is well; null where the series is missing. */
  readonly series: Readonly<Record<string, string | null>>;
  /** A minute from which on it fires, and one in which it does not yet. */
  readonly firesAt: number;
  readonly quietAt: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
}

const services = [
  'coordination-api',
  'delivery-worker',
  'mcp-gateway',
  'license-service',
  'sign-in',
  'console',
  'docs',
] as const;
const started = (service: string): string => `process_start_time_seconds{service="${service}"}`;
const ofApi = 'service="coordination-api"';
const calls = `muster_operations_total{${ofApi},operation="stories.get",outcome="ok"}`;
const bucket = (le: string): string =>
  `muster_operation_duration_seconds_bucket{${ofApi},operation="stories.get",le="${le}"}`;

/** All is well: for longer than any alert waits. */
export const well: Readonly<Record<string, string>> = {
  ...Object.fromEntries(services.map((service) => [started(service), '1x120'])),
  [`muster_dependency_up{${ofApi},dependency="postgres"}`]: '1x120',
  [calls]: '0+600x120',
  // Single faults of the past.
  [`muster_errors_total{${ofApi},operation="stories.get",code="internal"}`]: '3x120',
  [`muster_errors_total{${ofApi},operation="stories.get",code="unavailable",reason="database"}`]: '0+29x120',
  [`muster_errors_total{${ofApi},operation="none",code="unavailable",reason="overload"}`]: '7x120',
  [bucket('0.1')]: '0+594x120',
  [bucket('1')]: '0+597x120',
  [bucket('+Inf')]: '0+600x120',
  muster_validation_holes_total: '2x120',
  [`muster_pool_waiting{${ofApi}}`]: '9 0x119',
  [`nodejs_eventloop_lag_p99_seconds{${ofApi}}`]: '0.02x120',
  [`process_resident_memory_bytes{${ofApi}}`]: '300000000x120',
  'muster_outbox_lag_seconds{topic="notification.mail"}': '5x120',
  'muster_jobs_total{name="notification.mail",outcome="failed"}': '4x120',
  'muster_outbox_dead{topic="notification.mail"}': '0x120',
  'muster_queue_jobs{queue="mail",state="waiting"}': '200x120',
  muster_lease_sweep_lag_seconds: '1x120',
  muster_webhook_lag_seconds: '2x120',
  'muster_executions{state="stalled"}': '10x120',
  'muster_leases{state="live"}': '20x120',
  'muster_operations_total{service="license-service",operation="activate",outcome="unknown_license_key"}':
    '0+30x120',
};

export const alertCases: readonly AlertCase[] = [
  ...services.map((service) => ({
    ...{ alert: 'MusterServiceGone', series: { [started(service)]: null } },
    ...{ firesAt: 2, quietAt: 1, labels: { severity: 'critical', service } },
    summary: `No process of ${service} answers`,
  })),
  {
    ...{ alert: 'MusterDependencyAway', firesAt: 12, quietAt: 11 },
    series: { [`muster_dependency_up{${ofApi},dependency="postgres"}`]: '1x9 0x110' },
    labels: { severity: 'critical', service: 'coordination-api', dependency: 'postgres' },
    summary: 'coordination-api does not reach postgres',
  },
  {
    ...{ alert: 'MusterFaults', firesAt: 7, quietAt: 5 },
    series: { [`muster_errors_total{${ofApi},operation="stories.get",code="internal"}`]: '0+1x120' },
    labels: { severity: 'critical', service: 'coordination-api', operation: 'stories.get' },
    summary: 'coordination-api answers 500 to stories.get',
  },
  {
    ...{ alert: 'MusterUnavailable', firesAt: 7, quietAt: 5 },
    series: {
      [`muster_errors_total{${ofApi},operation="stories.get",code="unavailable",reason="database"}`]:
        '0+31x120',
    },
    labels: { severity: 'critical', service: 'coordination-api' },
    summary: 'More than one in twenty calls of coordination-api is answered 503',
  },
  {
    ...{ alert: 'MusterTurnsAway', firesAt: 7, quietAt: 5 },
    series: {
      [`muster_errors_total{${ofApi},operation="none",code="unavailable",reason="overload"}`]: '0+1x120',
    },
    labels: { severity: 'warning', service: 'coordination-api' },
    summary: 'coordination-api is asked more than it can answer',
  },
  {
    ...{ alert: 'MusterSlow', firesAt: 12, quietAt: 10 },
    series: { [bucket('0.1')]: '0+500x120', [bucket('1')]: '0+590x120', [bucket('5')]: '0+600x120' },
    labels: { severity: 'warning', service: 'coordination-api' },
    summary: 'One in a hundred calls of coordination-api takes longer than a second',
  },
  {
    ...{ alert: 'MusterValidationHole', firesAt: 12, quietAt: 9 },
    series: { muster_validation_holes_total: '0x9 1x110' },
    labels: { severity: 'warning' },
    summary: 'Postgres refused a value that validation had let through',
  },
  {
    ...{ alert: 'MusterPoolExhausted', firesAt: 20, quietAt: 9 },
    series: { [`muster_pool_waiting{${ofApi}}`]: '0x4 3x115' },
    labels: { severity: 'warning', service: 'coordination-api' },
    summary: 'Calls of coordination-api always wait for a connection to Postgres',
  },
  {
    ...{ alert: 'MusterEventLoopBlocked', firesAt: 15, quietAt: 14 },
    series: { [`nodejs_eventloop_lag_p99_seconds{${ofApi}}`]: '0.02x9 0.21x110' },
    labels: { severity: 'warning', service: 'coordination-api' },
    summary: 'A process of coordination-api does one thing for too long',
  },
  {
    ...{ alert: 'MusterMemory', firesAt: 25, quietAt: 24 },
    series: { [`process_resident_memory_bytes{${ofApi}}`]: '300000000x9 451000000x110' },
    labels: { severity: 'warning', service: 'coordination-api' },
    summary: 'A process of coordination-api has half as much memory again as it needs',
  },
  {
    ...{ alert: 'MusterOutboxLate', firesAt: 12, quietAt: 11 },
    series: { 'muster_outbox_lag_seconds{topic="notification.mail"}': '5x9 61x110' },
    labels: { severity: 'critical', topic: 'notification.mail' },
    summary: 'What is due of notification.mail is not dispatched',
  },
  {
    ...{ alert: 'MusterJobsFail', firesAt: 15, quietAt: 4 },
    series: { 'muster_jobs_total{name="notification.mail",outcome="failed"}': '0+1x120' },
    labels: { severity: 'warning', name: 'notification.mail' },
    summary: 'notification.mail fails again and again',
  },
  {
    ...{ alert: 'MusterJobsGivenUp', firesAt: 15, quietAt: 14 },
    series: { 'muster_outbox_dead{topic="notification.mail"}': '0x9 1x110' },
    labels: { severity: 'warning', topic: 'notification.mail' },
    summary: 'Jobs of notification.mail were given up',
  },
  {
    ...{ alert: 'MusterQueueLong', firesAt: 20, quietAt: 19 },
    series: { 'muster_queue_jobs{queue="mail",state="waiting"}': '200x9 251x110' },
    labels: { severity: 'warning', queue: 'mail' },
    summary: 'The queue mail does not get shorter',
  },
  {
    ...{ alert: 'MusterLeaseExpiriesUntold', firesAt: 12, quietAt: 11 },
    series: { muster_lease_sweep_lag_seconds: '1x9 31x110' },
    labels: { severity: 'critical' },
    summary: 'Leases end and nobody is told',
  },
  {
    ...{ alert: 'MusterWebhooksWait', firesAt: 15, quietAt: 14 },
    series: { muster_webhook_lag_seconds: '2x9 61x110' },
    labels: { severity: 'warning' },
    summary: 'Webhooks are due and no worker sends them',
  },
  {
    ...{ alert: 'MusterExecutionsStall', firesAt: 40, quietAt: 39 },
    series: { 'muster_executions{state="stalled"}': '10x9 15x110' },
    labels: { severity: 'warning' },
    summary: 'Much of the work that was begun has fallen silent',
  },
  {
    ...{ alert: 'MusterLicenseGuessing', firesAt: 22, quietAt: 18 },
    series: {
      'muster_operations_total{service="license-service",operation="activate",outcome="unknown_license_key"}':
        '0+61x120',
    },
    labels: { severity: 'warning' },
    summary: 'Somebody tries license keys',
  },
];
