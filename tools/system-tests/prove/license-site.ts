/**
 * A license service for races and faults. A relay between it and Postgres breaks connections, and a tap
 * removes guards from its SQL.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Pool } from '@muster/driver';
import { type Dice, type ThrowAwayApp } from '@muster/tools';
import { Breakable } from './breakable.ts';
import { startApp } from './bundles.ts';
import { startFaultyProxy } from './faulty-line.ts';
import { type GuardRemoval } from './guards.ts';
import { runUnderFaults, wreak } from './havoc.ts';
import { type Findings } from './property.ts';
import { countOf, type Scope } from './services.ts';
import { comesToBe, tapInto } from './site.ts';

/** Rate limits are effectively off, because the calls must run at the same time. */
const noLimit = '1000000/0.001';
const limits = {
  ...{ LIMIT_IP: noLimit, LIMIT_CHECK: noLimit, LIMIT_IP_FAIL: noLimit, LIMIT_KEY_FAIL: noLimit },
  ...{ LIMIT_OPERATORS: noLimit, WEBHOOK_NETWORKS: '127.0.0.0/8:*' },
};

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface ProofPlan {
  readonly name: string;
  readonly machines?: number;
  readonly leaseSeconds?: number;
  readonly transfers?: number;
}

export interface Sold {
  readonly id: string;
  readonly key: string;
}

export interface LicenseSite {
  readonly owner: Pool;
  readonly service: Breakable<ThrowAwayApp>;
  /** Posts one call, and retries it until it is answered. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Calls the operators' API. */
  operate(path: string, body: unknown): Promise<Answered>;
  activate(licenseKey: string, machineId: string): Promise<Answered>;
  makePlan(plan: ProofPlan): Promise<void>;
  issue(plan: string, count: number): Promise<Sold[]>;
  /**
   * Runs all of `works` concurrently and makes them collide, at any speed of the machine. See the function
   * `together`.
   */
  together<Result>(
    held: string,
    values: readonly unknown[],
    works: readonly (() => Promise<Result>)[],
    meeting?: number,
  ): Promise<Result[]>;
  /** Kills the service and breaks its connections to Postgres repeatedly while `act` runs. */
  whileBreaking(dice: Dice, act: () => Promise<void>): Promise<void>;
  /**
   * Makes the report. It adds unexpected answers to the violations, and the numbers of faults to the figures.
   */
  report(violations: readonly string[], figures: Findings['figures']): Findings;
}

const triesForMillis = 60_000;
const againMillis = 40;
const betweenBreaks = { least: 60, most: 250 };
const faultsPerKill = 6;

export async function openLicenseSite(
  scope: Scope,
  removals: readonly GuardRemoval[] = [],
): Promise<LicenseSite> {
  const { url: databaseUrl, owner } = await scope.database();
  const tapped = await tapInto(scope, databaseUrl, removals);
  const line = await startFaultyProxy(tapped);
  scope.onStop(() => line.stop());
  const environment = { DATABASE_URL: line.through(tapped), ...limits };
  const service = await Breakable.start((port) => startApp(scope, 'license-service', { environment, port }));
  const secret = `mlt_${randomBytes(32).toString('base64url')}`;
  await owner.query(
    `insert into licenses.operator_tokens (id, product, name, secret_hash, scopes)
     values ($1, 'default', 'prove', $2, '{read,issue,change,webhooks}')`,
    [randomUUID(), hash('sha256', secret, 'buffer')],
  );

  const strange: string[] = [];
  const once = async (path: string, init: RequestInit): Promise<Answered | undefined> => {
    try {
      const answer = await fetch(service.url + path, { ...init, signal: AbortSignal.timeout(10_000) });
      const text = await answer.text();
      if (answer.status === 503) return undefined;
      if (answer.status >= 500) strange.push(`${path} was answered ${answer.status}: ${text}`);
      return {
        ...{ status: answer.status, headers: answer.headers },
        json: JSON.parse(text) as Answered['json'],
      };
    } catch {
      return undefined;
    }
  };
  const post: LicenseSite['post'] = async (path, body, headers = {}) => {
    const init = {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    };
    for (const end = performance.now() + triesForMillis; performance.now() < end;) {
      const answer = await once(path, init);
      if (answer !== undefined) return answer;
      await pause(againMillis);
    }
    throw new Error(`${path} was never answered`);
  };
  const operate: LicenseSite['operate'] = (path, body) =>
    post(`/api/operators/${path}`, body, { authorization: `Bearer ${secret}` });

  return {
    ...{ owner, service, post, operate },
    activate: (licenseKey, machineId) => post('/api/activate', { licenseKey, machineId }),
    makePlan: async ({ name, machines = 1, leaseSeconds = null, transfers = 1_000 }) => {
      await owner.query(
        `insert into licenses.plans (name, duration_seconds, machine_limit, lease_seconds, transfer_limit)
         values ($1, 86400, $2, $3, $4)`,
        [name, machines, leaseSeconds, transfers],
      );
    },
    issue: async (plan, count) => {
      for (;;) {
        const { json } = await operate('licenses/issue', { plan, count, orderRef: randomUUID() });
        const sold = json['licenses'] as (Omit<Sold, 'key'> & { key: string | null })[];
        // Keys are shown only once. If the answer with the keys got lost, its repetition has none, so other
        // licenses are issued instead.
        if (sold.every(({ key }) => key !== null)) return sold as Sold[];
      }
    },
    together: (held, values, works, meeting) => together(owner, { held, values }, works, meeting),
    whileBreaking: async (dice, act) => {
      let breaks = 0;
      const breaking = wreak(dice, betweenBreaks, async () => {
        breaks += 1;
        if (breaks % faultsPerKill === 0) await service.killAndStartAgain();
        else line.breakOne(dice);
      });
      await runUnderFaults([breaking], act);
    },
    report: (violations, figures) => ({
      violations: [...violations, ...strange],
      figures: {
        ...{ ...figures, 'service kills': service.kills },
        'broken connections': Object.values(line.broken).reduce((sum, one) => sum + one, 0),
      },
    }),
  };
}

/**
 * Runs all of `works` while the statement `held` keeps a lock. It releases the lock as soon as each of the
 * first `meeting` works waits in Postgres or has been answered.
 */
async function together<Result>(
  owner: Pool,
  { held, values }: { readonly held: string; readonly values: readonly unknown[] },
  works: readonly (() => Promise<Result>)[],
  meeting = works.length,
): Promise<Result[]> {
  const holder = await owner.connect();
  let answered = 0;
  try {
    await holder.query('begin');
    await holder.query(held, [...values]);
    // The functions in `works` begin to wait one after the other, because Postgres grants a lock in the order
    // of the requests.
    const outcomes: Promise<Result>[] = [];
    let met = true;
    const doAllWait = async () => (await waiting(owner)) + answered >= outcomes.length;
    for (const work of works) {
      const outcome = work();
      outcomes.push(outcome);
      outcome.then(
        () => (answered += 1),
        () => (answered += 1),
      );
      if (outcomes.length <= meeting) met &&= await comesToBe(doAllWait, 20_000, 5);
    }
    await holder.query('rollback');
    const results = await Promise.all(outcomes);
    if (!met) throw new Error('they never met');
    return results;
  } finally {
    holder.release(true);
  }
}

/** Counts the backends of this database that wait for a lock. */
const waiting = (owner: Pool): Promise<number> =>
  countOf(owner, `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

/**
 * Removes a guard from a view or a function in the database by replacing one piece of its definition. Throws
 * unless the piece occurs exactly once.
 */
export async function redefine(
  owner: Pool,
  what: { readonly view: string } | { readonly function: string },
  [piece, other]: readonly [string, string],
): Promise<void> {
  const [definition, name] =
    'view' in what
      ? [`'create or replace view ' || $1 || ' as ' || pg_get_viewdef($1::regclass)`, what.view]
      : ['pg_get_functiondef($1::regproc)', what.function];
  const { rows } = await owner.query<{ text: string }>(`select ${definition} as text`, [name]);
  const text = rows[0]?.text ?? '';
  const parts = text.split(piece);
  if (parts.length !== 2) throw new Error(`not once in it: ${piece}, of\n${text}`);
  await owner.query(parts.join(other));
}
