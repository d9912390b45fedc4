/** A license service for one spec, with real Postgres, Redis and HTTP. */
import { randomBytes } from 'node:crypto';
import { createPool, type Pool } from '@muster/driver';
import { cloneDatabase, withTestTimeouts, redisUrl } from '@muster/testing';
import { type Logger, pino } from 'pino';
import { createLicenseService, type LicenseService, type LicenseServiceOptions } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { loadSecrets, provision } from '../src/database.ts';
import { type FormattedKey } from '../src/key/key.ts';
import { issueLicenses, type IssuedLicense, type LicenseOrder } from '../src/operators/issue.ts';
import { type Db, inTransaction } from '../src/operators/transaction.ts';

export { waitUntil } from '@muster/testing';

/** Limits that no test reaches. Tests of limits set their own. */
export const noLimits = {
  ...{ LIMIT_IP: '100000/1', LIMIT_CHECK: '100000/1', LIMIT_USAGE: '100000/1' },
  ...{ LIMIT_IP_FAIL: '100000/1', LIMIT_KEY_FAIL: '100000/1' },
};

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body; `{}` if there is none. */
  readonly json: Record<string, unknown>;
}

export interface RunningService extends LicenseService {
  readonly url: string;
  call(path: string, init?: RequestInit): Promise<HttpAnswer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<HttpAnswer>;
  activate(licenseKey: string, machineId: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  check(licenseKey: string, machineId: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  release(licenseKey: string, machineId: string): Promise<HttpAnswer>;
  stop(): Promise<void>;
}

export interface StartOptions extends LicenseServiceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly logger?: Logger;
  /** The port; any free port by default. */
  readonly port?: number;
}

export interface LicenseWorld {
  readonly url: string;
  /** The secret in the database that encrypts the signing keys. */
  readonly seal: Buffer;
  /** Connections of the operators' login, which owns the tables. */
  readonly owner: Pool;
  asOperator<Result>(work: (db: Db) => Promise<Result>): Promise<Result>;
  issue(order?: Partial<LicenseOrder>): Promise<IssuedLicense & { key: FormattedKey }>;
  issueMany(count: number, order?: Partial<LicenseOrder>): Promise<(IssuedLicense & { key: FormattedKey })[]>;
  rows<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]>;
  start(setUp?: StartOptions): Promise<RunningService>;
  close(): Promise<void>;
}

const jsonOf = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};

export async function openLicenseWorld(): Promise<LicenseWorld> {
  const database = await cloneDatabase();
  const { url } = database;
  const given = { pepper: undefined, pepperBefore: undefined, seal: undefined };
  await provision(url, given);
  const owner = withTestTimeouts(createPool({ url, role: null, name: 'license-spec', max: 4 }));
  const [seal] = (await loadSecrets(owner, given)).seals;
  if (seal === undefined) throw new Error('a database without a seal');
  const running: RunningService[] = [];

  const issueMany: LicenseWorld['issueMany'] = async (count, order = {}) => {
    const { licenses } = await inTransaction(owner, (ask) =>
      issueLicenses(ask, { plan: 'pro', term: { kind: 'for', seconds: 86_400 }, ...order, count }),
    );
    return licenses.map((license) => {
      if (license.key === null) throw new Error('this order was issued before');
      return { ...license, key: license.key };
    });
  };

  return {
    url,
    seal: Buffer.from(seal),
    owner,
    asOperator: (work) => inTransaction(owner, work),
    issueMany,
    issue: async (order) => {
      const [license] = await issueMany(1, order);
      if (license === undefined) throw new Error('nothing was issued');
      return license;
    },
    rows: async <Row extends object>(text: string, ...values: unknown[]) =>
      (await owner.query<Row>(text, values)).rows,
    start: async ({
      environment = noLimits,
      logger = pino({ level: 'silent' }),
      port = 0,
      ...options
    } = {}) => {
      const config = readConfig({
        ...{ DATABASE_URL: url, REDIS_URL: redisUrl(), HOST: '127.0.0.1', PORT: '0' },
        ...environment,
      });
      const prefix = `{spec-${randomBytes(6).toString('hex')}}`;
      const pool = withTestTimeouts(
        createPool({ url: config.DATABASE_URL, role: 'muster_licenses', max: config.DATABASE_POOL }),
      );
      const operatorsPool = withTestTimeouts(
        createPool({ url: config.DATABASE_URL, role: 'muster_license_operators', max: 4 }),
      );
      const licenses = createLicenseService(config, logger, { prefix, pool, operatorsPool, ...options });
      await licenses.start();
      const address = await licenses.service.app.listen({ host: '127.0.0.1', port });
      const call: RunningService['call'] = async (path, init) => {
        const answer = await fetch(`${address}${path}`, init);
        const text = await answer.text();
        return { status: answer.status, headers: answer.headers, text, json: jsonOf(text) };
      };
      const post: RunningService['post'] = (path, body, headers = {}) =>
        call(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
      let isRunning = true;
      const one: RunningService = {
        ...licenses,
        url: address,
        call,
        post,
        activate: (licenseKey, machineId, headers) =>
          post('/api/activate', { licenseKey, machineId }, headers),
        check: (licenseKey, machineId, headers = {}) =>
          call(`/api/activate/check?${new URLSearchParams({ licenseKey, machineId }).toString()}`, {
            headers,
          }),
        release: (licenseKey, machineId) => post('/api/activate/release', { licenseKey, machineId }),
        stop: async () => {
          if (!isRunning) return;
          isRunning = false;
          await licenses.service.stop();
          await licenses.close();
        },
      };
      running.push(one);
      return one;
    },
    close: async () => {
      await Promise.all(running.map((one) => one.stop()));
      await owner.end();
      await database.close();
    },
  };
}
