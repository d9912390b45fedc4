/** An installation whose parts can all be broken, with members and stories. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, httpTransport, retrying } from '@muster/client';
import { type ThrowAwayApp } from '@muster/tools';
import { startApp } from './bundles.ts';
import { Breakable, type Breakables, findBreakables } from './breakable.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-line.ts';
import { type Database, type Scope } from './services.ts';
import { type GuardRemoval } from './guards.ts';
import { foundOrganization, type TestOrg, type TestUser } from './organization.ts';
import { openTap } from './tap.ts';

/** An instance of the API, with the relays to it and to its database. */
export interface Replica {
  readonly api: Breakable<ThrowAwayApp>;
  /** The address of the relay to the instance, whose connections may break. */
  readonly url: string;
  readonly proxies: readonly FaultyProxy[];
}

/** A delivery worker, and the folder to which it writes mails. */
export interface Worker {
  readonly app: Breakable<ThrowAwayApp>;
  readonly mailFolder: string;
}

export interface WorkerOptions {
  /** The address of a Redis that the worker uses instead of the site's own. */
  readonly redisUrl?: string;
  /** The guards to remove from the worker's SQL. */
  readonly removals?: readonly GuardRemoval[];
}

/** The running services, without an organization. */
interface Ground {
  readonly breakables: Breakables;
  readonly database: Database;
  readonly copies: readonly [Replica, ...Replica[]];
}

/** The numbers of faults since the site was opened. */
export interface Broken {
  readonly postgres: number;
  readonly apis: number;
  readonly connections: number;
}

export interface Site extends Ground, TestOrg {
  readonly projectId: string;
  /** The client of the organization's owner. */
  readonly ana: Client;
  broken(): Broken;
  /**
   * Makes a client that retries calls that an outage interrupted. A retried write still happens only once.
   */
  clientOf(person: TestUser): Client;
  /** Creates stories that are ready for work, and returns their ids. */
  makeStories(count: number): Promise<string[]>;
  startWorker(options?: WorkerOptions): Promise<Worker>;
}

export interface SiteSetup {
  readonly people: number;
  /** The guards to remove from the API's SQL. If there are any, the site gets its own services. */
  readonly removals?: readonly GuardRemoval[];
}

/** The receivers of webhooks are on this machine. */
const webhooksTo = { WEBHOOK_NETWORKS: '127.0.0.0/8:*' };
/** The limit on mails between members is effectively off. */
const amongMembers = { LIMIT_MESSAGES: '1000/0.001' };
/** The limit on forge deliveries is effectively off. */
const fromForges = { LIMIT_DELIVERIES: '100000/1' };

/** Opens a site with its own organization. All runs without removed guards share the services. */
export async function openSite(scope: Scope, { people: count, removals = [] }: SiteSetup): Promise<Site> {
  const ground =
    removals.length > 0
      ? await layGround(scope, removals)
      : await scope.share('ground', (home) => layGround(home, []));
  const { breakables, database, copies } = ground;
  await findBreakables(scope);
  await Promise.all(copies.map(({ api }) => api.startAgain()));
  const organization = await foundOrganization(database, count);
  const [first] = copies;
  const clientOf = ({ token }: TestUser): Client =>
    createClient(retrying(httpTransport({ baseUrl: first.api.url, token }), { forSeconds: 60 }));
  const ana = clientOf(organization.people[0]);
  const { project } = await ana.projects.create({ key: 'PRV', name: 'What is proven' });
  const brokenEver = (): Broken => ({
    postgres: breakables.postgres.kills,
    apis: copies.reduce((sum, { api }) => sum + api.kills, 0),
    connections: copies
      .flatMap(({ proxies: lines }) => lines.flatMap(({ broken }) => Object.values(broken)))
      .reduce((sum, one) => sum + one, 0),
  });
  const before = brokenEver();
  return {
    ...{ ...ground, ...organization, clientOf, ana },
    projectId: project.id,
    broken: () => {
      const now = brokenEver();
      return {
        postgres: now.postgres - before.postgres,
        apis: now.apis - before.apis,
        connections: now.connections - before.connections,
      };
    },
    makeStories: (stories) =>
      Promise.all(
        Array.from({ length: stories }, async (_, index) => {
          const title = `Story ${index + 1}`;
          const made = await ana.stories.create({ projectId: project.id, title, status: 'ready' });
          return made.story.id;
        }),
      ),
    startWorker: async ({ redisUrl = breakables.redis.url, removals: ofWorker = [] } = {}) => {
      const mailFolder = await mkdtemp(path.join(tmpdir(), 'muster-prove-mail-'));
      scope.onStop(() => rm(mailFolder, { recursive: true, force: true }));
      const environment = {
        ...{ DATABASE_URL: await tapInto(scope, database.url, ofWorker), REDIS_URL: redisUrl },
        ...{ BASE_URL: first.api.url, MAIL_FOLDER: mailFolder, ...webhooksTo, ...amongMembers },
      };
      const app = await Breakable.start((port) => startApp(scope, 'delivery-worker', { environment, port }));
      return { app, mailFolder };
    },
  };
}

async function layGround(scope: Scope, removals: readonly GuardRemoval[]): Promise<Ground> {
  const breakables = await findBreakables(scope);
  const database = await breakables.database(scope);
  const line = async (to: string): Promise<FaultyProxy> => {
    const started = await startFaultyProxy(to);
    scope.onStop(() => started.stop());
    return started;
  };
  const openCopy = async (): Promise<Replica> => {
    const url = await tapInto(scope, database.url, removals);
    const toDatabase = await line(url);
    const environment = { DATABASE_URL: toDatabase.through(url), ...webhooksTo, ...fromForges };
    const api = await Breakable.start((port) => startApp(scope, 'coordination-api', { environment, port }));
    const toApi = await line(api.url);
    return { api, url: toApi.through(api.url), proxies: [toDatabase, toApi] };
  };
  return { breakables, database, copies: await Promise.all([openCopy(), openCopy()]) };
}

/**
 * Returns the address of a database proxy that removes the given guards from the statements it forwards, or the
 * database's own address if no guards are given.
 */
export const tapInto = async (
  scope: Scope,
  url: string,
  removals: readonly GuardRemoval[],
): Promise<string> => (removals.length === 0 ? url : (await openTap(scope, url, removals)).url);

/** Polls until `isSo` returns true, for at most `mostMillis`. Returns false after the timeout. */
export async function comesToBe(
  isSo: () => Promise<boolean>,
  mostMillis: number,
  everyMillis = 50,
): Promise<boolean> {
  for (const end = performance.now() + mostMillis; ;) {
    if (await isSo()) return true;
    if (performance.now() > end) return false;
    await pause(everyMillis);
  }
}
