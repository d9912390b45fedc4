/**
 * Compares Muster with other products on one PostgreSQL: Directus and PostGraphile for calls, BullMQ,
 * graphile-worker and pg-boss for jobs. They are installed when this benchmark runs, outside the lockfile. The
 * peers' tables have the columns of a board and nothing else. Both peers allow every call: Directus by an
 * administrator's token, PostGraphile without any token.
 */
import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Pool } from '@muster/driver';
import { repositoryRoot } from '@muster/tools';
import { type BenchOrg, makeOrg } from './data.ts';
import { type LoadRequest } from './load-request.ts';
import { type Effort, inTurns, measure, type Side } from './measure.ts';
import { jobsPerRound, startOutbox } from './outbox.ts';
import {
  laneOf,
  type PeerOperation,
  peerOperations,
  type PeerProject,
  type PeerRequests,
  requestsOfDirectus,
  requestsOfPostgraphile,
} from './peer-requests.ts';
import { startPeer } from './peer-server.ts';
import { renderTable, type Spread, spread, type Summary, summarize, whole } from './report.ts';
import { type Services } from './services.ts';
import { pick } from './work.ts';
import { works } from './works.ts';

const run = promisify(execFile);

const connections = 16;
/** The number of projects of the peers' tables, and of Muster's organization. */
const projects = 8;
const peersFolder = path.join(import.meta.dirname, 'peers');

/** Installs the packages of the folder `peers`, unless a previous run has done so. Returns their folder. */
async function installPeers(): Promise<string> {
  const folder = path.join(repositoryRoot, 'node_modules/.cache/muster-peers');
  await cp(peersFolder, folder, { recursive: true });
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  return folder;
}

/** Creates and fills the tables of a peer. Returns its projects. */
async function fillTables(database: Pool): Promise<PeerProject[]> {
  await database.query(await readFile(path.join(peersFolder, 'tables.sql'), 'utf8'));
  const { rows } = await database.query<PeerProject>(
    `select p.id as "projectId",
       (select array_agg(c.id order by c.position) from columns c where c.project_id = p.id) as "columnIds",
       (select array_agg(s.id order by s.id) from stories s where s.project_id = p.id) as "storyIds"
     from projects p order by p.id`,
  );
  return rows;
}

export interface PeersSummary {
  /** Each peer's comparison with Muster, by the peer's name. */
  readonly calls: Readonly<Record<string, readonly Summary[]>>;
  /** Jobs per second of each queue. */
  readonly jobs: Readonly<Record<string, Spread>>;
}

const requestsOfMuster = (org: BenchOrg, operation: PeerOperation, connection: number): LoadRequest[] => {
  const work = works.find(({ name }) => name === operation);
  if (work === undefined) throw new Error(`no workload is called ${operation}`);
  return work.lane([org], connection).map(({ muster }) => muster);
};

interface Peer {
  readonly name: string;
  readonly url: string;
  readonly projects: readonly PeerProject[];
  readonly requests: PeerRequests;
}

async function startPeers(
  services: Services,
  owner: Pool,
  serverUrl: string,
  folder: string,
): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (const [program, name, requests] of [
    ['directus', 'Directus', requestsOfDirectus],
    ['postgraphile', 'PostGraphile', requestsOfPostgraphile],
  ] as const) {
    await owner.query(`create database ${program}`);
    const databaseUrl = new URL(program, serverUrl).href;
    const own = await fillTables(services.owner(databaseUrl));
    peers.push({
      name,
      url: await startPeer(services, folder, program, databaseUrl),
      projects: own,
      requests,
    });
  }
  return peers;
}

/** Sends one request of each operation, because GraphQL answers a failed mutation with status 200. */
async function checkAnswers({ name, url, projects: own, requests }: Peer): Promise<void> {
  for (const operation of peerOperations) {
    const [request] = laneOf(requests, operation, pick(own, 0), 0);
    if (request === undefined) continue;
    const { path: of, method = 'POST', headers, body } = request;
    const answer = await fetch(url + of, { method, headers, ...(method !== 'GET' && { body }) });
    const text = await answer.text();
    if (!answer.ok || text.includes('"errors"'))
      throw new Error(`${name}, ${operation}: ${text.slice(0, 1_000)}`);
  }
}

async function compareCalls(services: Services, folder: string, effort: Effort) {
  const { postgres, api, owner, bench } = await services.installation();
  const org = await makeOrg(owner, api.url, 'bench-peers', projects);
  const peers = await startPeers(services, owner, postgres.url, folder);
  for (const peer of peers) await checkAnswers(peer);
  await owner.query('analyze');
  const lanes = (of: (connection: number) => LoadRequest[]): LoadRequest[][] =>
    Array.from({ length: connections }, (_, connection) => of(connection));
  const courses = peerOperations.map((operation): Side[] => [
    (time) =>
      measure(
        bench,
        `Muster, ${operation}`,
        api.url,
        lanes((connection) => requestsOfMuster(org, operation, connection)),
        time,
      ),
    ...peers.map(
      ({ name, url, projects: own, requests }): Side =>
        (time) =>
          measure(
            bench,
            `${name}, ${operation}`,
            url,
            lanes((connection) => laneOf(requests, operation, pick(own, connection), connection)),
            time,
          ),
    ),
  ]);
  const samples = await inTurns(courses, effort);
  return Object.fromEntries(
    peers.map(({ name: peer }, place) => [
      peer,
      peerOperations.map((name, index) => {
        const [ours = []] = samples[index] ?? [];
        const theirs = samples[index]?.[place + 1] ?? [];
        return summarize({ name, goal: null, ours, theirs, roundTrips: null });
      }),
    ]),
  );
}

async function compareJobs(services: Services, folder: string, { rounds, say }: Effort) {
  const { owner, postgres, throughOutbox, throughBullMq } = await startOutbox(services);
  const queues: Record<string, () => Promise<number>> = {
    'Muster, through the outbox': throughOutbox,
    BullMQ: throughBullMq,
  };
  for (const queue of ['graphile-worker', 'pg-boss']) {
    const database = queue.replace('-', '_');
    await owner.query(`create database ${database}`);
    const environment = { QUEUE: queue, FOLDER: folder, DATABASE_URL: new URL(database, postgres.url).href };
    const program = await services.program('peer-queue.ts', environment);
    queues[queue] = async () => (await program.ask(jobsPerRound)) as number;
  }
  const rates = new Map(Object.keys(queues).map((name): [string, number[]] => [name, []]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measureRate] of Object.entries(queues)) {
      const rate = await measureRate();
      if (round > 0) rates.get(name)?.push(rate);
    }
    say(`Jobs, round ${round} of ${rounds}`);
  }
  return Object.fromEntries([...rates].map(([name, all]) => [name, spread(all)]));
}

export async function measurePeers(services: Services, effort: Effort): Promise<PeersSummary> {
  effort.say('Installing Directus, PostGraphile, graphile-worker and pg-boss');
  const folder = await installPeers();
  effort.say('Starting PostgreSQL (fsync on), coordination-api, Directus and PostGraphile');
  const calls = await compareCalls(services, folder, effort);
  await services.stop();
  return { calls, jobs: await compareJobs(services, folder, effort) };
}

export const renderPeers = ({ calls, jobs }: PeersSummary): string =>
  [
    ...Object.entries(calls).map(([peer, summaries]) => renderTable(summaries, `Muster / ${peer}`)),
    ...Object.entries(jobs).map(
      ([name, { median: middle, min, max }]) =>
        `  ${name}: ${whole(middle)} jobs a second (${whole(min)}–${whole(max)})`,
    ),
  ].join('\n\n');
