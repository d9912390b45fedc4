/** An installation whose every part can be broken, people who work there, and stories to work on. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, httpTransport, retrying } from '@muster/client';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import { startThrowAwayApi } from '../dev/throw-away-api.ts';
import { startThrowAwayApp, type ThrowAwayApp } from '../dev/throw-away-app.ts';
import { findBundle } from './bundles.ts';
import { Breakable, type Breakables, findBreakables } from './breakable.ts';
import { type FaultyLine, startFaultyLine } from './faulty-line.ts';
import { type Database, type Scope } from './services.ts';
import { type Removal } from './guards.ts';
import { requireMet, startTap, type Tap } from './tap.ts';

export interface Person {
  readonly name: string;
  readonly handle: string;
  readonly memberId: string;
  readonly token: string;
}

/** A copy of the API with the lines to it and from it. */
export interface Copy {
  readonly api: Breakable<ThrowAwayApp>;
  /** By way of the line that may break. */
  readonly url: string;
  readonly lines: readonly FaultyLine[];
}

/** A delivery-worker, and where its mails go. */
export interface Worker {
  readonly app: Breakable<ThrowAwayApp>;
  readonly mailFolder: string;
  /** Throws if a rewrite met no statement so far. */
  requireMet(): void;
}

export interface WorkerOptions {
  /** Another way to Redis. */
  readonly redisUrl?: string;
  /** SQL that is put in place of its own. */
  readonly removals?: readonly Removal[];
}

/** What runs, without anybody there yet. */
interface Ground {
  readonly breakables: Breakables;
  readonly database: Database;
  readonly copies: readonly Copy[];
  readonly taps: readonly Tap[];
}

/** What went wrong on purpose since the site was opened. */
export interface Broken {
  readonly postgres: number;
  readonly apis: number;
  readonly connections: number;
}

export interface Site {
  readonly breakables: Breakables;
  readonly database: Database;
  readonly orgId: string;
  readonly projectId: string;
  /** The first owns the organization, and so leads every project. */
  readonly people: readonly Person[];
  readonly copies: readonly Copy[];
  broken(): Broken;
  /** A client that tries again what an outage cut off, once for good. */
  clientOf(person: Person): Client;
  /** Stories to be worked on, by their ids. */
  makeStories(count: number): Promise<string[]>;
  startWorker(options?: WorkerOptions): Promise<Worker>;
  /** Throws if a rewrite met no statement so far. */
  requireMet(): void;
}

export interface SiteOptions {
  readonly people: number;
  /** SQL that is put in place of the product's own; services are started for it alone then. */
  readonly removals?: readonly Removal[];
}

const copiesOfApi = 2;
/** Receivers of webhooks are on this machine. */
const webhooksTo = { WEBHOOK_NETWORKS: '127.0.0.0/8:*' };
/** Forges deliver as much as is tried. */
const fromForges = { LIMIT_DELIVERIES: '100000/1' };
const grounds = new WeakMap<Scope, Promise<Ground>>();

/** An organization of its own. What runs is shared by all runs that change no SQL. */
export async function openSite(scope: Scope, { people: count, removals = [] }: SiteOptions): Promise<Site> {
  const ground = removals.length > 0 ? await layGround(scope, removals) : await findGround(scope.home);
  const { breakables, database, copies, taps } = ground;
  await findBreakables(scope);
  await Promise.all(copies.map(({ api }) => api.startAgain()));
  const { orgId, people } = await foundOrganization(database, count);
  const [first] = copies;
  const [owner] = people;
  if (first === undefined || owner === undefined) throw new Error('nobody would be there');

  const clientOf = ({ token }: Person): Client =>
    createClient(retrying(httpTransport({ baseUrl: first.api.url, token }), { forSeconds: 60 }));
  const ana = clientOf(owner);
  const { project } = await ana.projects.create({ key: 'PRV', name: 'What is proven' });
  const brokenEver = (): Broken => ({
    postgres: breakables.postgres.kills,
    apis: copies.reduce((sum, { api }) => sum + api.kills, 0),
    connections: copies
      .flatMap(({ lines }) => lines.flatMap(({ broken }) => Object.values(broken)))
      .reduce((sum, one) => sum + one, 0),
  });
  const before = brokenEver();
  return {
    ...{ breakables, database, orgId, people, copies, clientOf },
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
      const tap = await tapInto(scope, database.url, ofWorker);
      const databaseUrl = tap?.url ?? database.url;
      const main = await findBundle(scope, 'delivery-worker');
      const app = await Breakable.start((port) =>
        startThrowAwayApp('delivery-worker', {
          ...{ main, log: 'warn' },
          environment: {
            ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
            ...{ BASE_URL: first.api.url, MAIL_FOLDER: mailFolder, ...webhooksTo },
          },
          ...(port === undefined ? {} : { port }),
        }),
      );
      scope.onStop(() => app.stop());
      return {
        ...{ app, mailFolder },
        requireMet: () => {
          if (tap !== undefined) requireMet(tap);
        },
      };
    },
    requireMet: () => {
      requireMet(...taps);
    },
  };
}

function findGround(home: Scope): Promise<Ground> {
  const ground = grounds.get(home) ?? layGround(home, []);
  grounds.set(home, ground);
  return ground;
}

async function layGround(scope: Scope, removals: readonly Removal[]): Promise<Ground> {
  const [breakables, main] = await Promise.all([
    findBreakables(scope),
    findBundle(scope, 'coordination-api'),
  ]);
  const database = await breakables.database(scope);
  const taps: Tap[] = [];
  const line = async (to: string): Promise<FaultyLine> => {
    const started = await startFaultyLine(to);
    scope.onStop(() => {
      started.stop();
    });
    return started;
  };
  const openCopy = async (): Promise<Copy> => {
    const tap = await tapInto(scope, database.url, removals);
    if (tap !== undefined) taps.push(tap);
    const url = tap?.url ?? database.url;
    const toDatabase = await line(url);
    const databaseUrl = toDatabase.through(url);
    const api = await Breakable.start((port) =>
      startThrowAwayApi({
        ...{ main, databaseUrl, log: 'warn', environment: { ...webhooksTo, ...fromForges } },
        ...(port === undefined ? {} : { port }),
      }),
    );
    scope.onStop(() => api.stop());
    const toApi = await line(api.url);
    return { api, url: toApi.through(api.url), lines: [toDatabase, toApi] };
  };
  const copies = await Promise.all(Array.from({ length: copiesOfApi }, openCopy));
  return { breakables, database, copies, taps };
}

/** Without removals nobody stands in the way. */
async function tapInto(scope: Scope, url: string, removals: readonly Removal[]): Promise<Tap | undefined> {
  if (removals.length === 0) return undefined;
  const tap = await startTap(url, removals);
  scope.onStop(() => {
    tap.stop();
  });
  return tap;
}

/** People with tokens, the first of whom owns the organization. */
export async function foundOrganization(
  { owner }: Database,
  count: number,
): Promise<{ orgId: string; people: Person[] }> {
  const slug = `site-${randomBytes(4).toString('hex')}`;
  const emailOf = (index: number): string => `p${index}@prove.example`;
  const { org } = await createOrganization(owner, {
    ...{ name: 'Site', slug, plan: 'enterprise' },
    owner: { email: emailOf(0), name: 'Person 0' },
  });
  for (let index = 1; index < count; index += 1) {
    await addMember(owner, { org: slug, email: emailOf(index), name: `Person ${index}`, role: 'member' });
  }
  const people: Person[] = [];
  for (let index = 0; index < count; index += 1) {
    const email = emailOf(index);
    const { token } = await createToken(owner, {
      org: slug,
      member: email,
      name: 'prove',
      scopes: ['admin'],
    });
    const { rows } = await owner.query<{ memberId: string; handle: string }>(
      'select id as "memberId", handle from members where org_id = $1 and email = $2',
      [org.id, email],
    );
    const [member] = rows;
    if (member === undefined) throw new Error('a member is missing');
    people.push({ name: `Person ${index}`, token, ...member });
  }
  return { orgId: org.id, people };
}

/** Looks until it is so, for so long at most; answers whether it came to be. */
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
