/**
 * Kills runners, with or without their agents, and starts them again, on this and on another simulated
 * machine.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Client, connect } from '@muster/client';
import {
  Dice,
  git,
  kill,
  type RunnerMachine,
  makeOrigin,
  openMachine,
  processesOf,
  type WorkingRunner,
} from '@muster/tools';
import { findBundle } from '../bundles.ts';
import { openApi } from '../callers.ts';
import { without } from '../guards.ts';
import { property, type RunProperty } from '../property.ts';
import { comesToBe } from '../site.ts';
import { type AgentName, agents, drawn, losesFiles } from './runner/agents.ts';

const shell = promisify(execFile);

type Victim = 'runner' | 'agent' | 'machine';

interface Kill {
  readonly victim: Victim;
  /** The kill follows this event after `millis` milliseconds. */
  readonly after: 'start' | 'taken' | 'hook' | 'checkpoint';
  readonly millis: number;
}

/** The course of one story, from its first runner to its end. */
interface Life {
  readonly agent: AgentName;
  readonly kills: readonly Kill[];
  /** Is true if another machine continues after the last kill. */
  readonly goesElsewhere?: boolean;
  /** Is true if the runner is asked to stop after the agent has written everything. */
  readonly isLeft?: boolean;
  /** Is true if another machine asks for the story when a lease that was not renewed would have expired. */
  readonly hasRival?: boolean;
  /** Is true if the remote rejects all pushes. */
  readonly isRefused?: boolean;
}

interface Extent {
  readonly lives: (dice: Dice) => readonly Life[];
  readonly atOnce: number;
}

const config = `agent: { idle: 4s, tries: 1 }
hooks: { after_create: sleep 0.3 }
checkpoint: 1s
`;
const patienceMillis = 90_000;
const leaseSeconds = 5;

/** Courses that the random choice might miss, one of each kind. */
const chosen: readonly Life[] = [
  { agent: 'writes and ends', kills: [{ victim: 'runner', after: 'hook', millis: 0 }] },
  {
    agent: 'writes and ends',
    kills: [{ victim: 'machine', after: 'checkpoint', millis: 0 }],
    goesElsewhere: true,
  },
  { agent: 'commits, then waits', kills: [], isLeft: true, isRefused: true },
  { agent: 'asks for permission', kills: [{ victim: 'machine', after: 'checkpoint', millis: 0 }] },
  { agent: 'is busy in silence', kills: [], hasRival: true },
];

const draw = (dice: Dice): Life => {
  const victims: readonly Victim[] = ['runner', 'runner', 'machine', 'agent'];
  const kills = Array.from({ length: dice.between(0, 2) }, () => ({
    victim: dice.pick(victims),
    after: dice.pick(['start', 'taken', 'taken', 'taken'] as const),
    millis: dice.between(0, 2_500),
  }));
  const agent = dice.pick(drawn);
  const goesElsewhere = kills.at(-1)?.victim === 'machine' && dice.chance(0.5);
  return { agent, kills, goesElsewhere };
};

interface TestSite {
  readonly home: string;
  readonly main: string;
  readonly api: { readonly url: string; readonly token: string };
  readonly client: Client;
  readonly origins: Readonly<Record<'open' | 'deaf', string>>;
}

async function strike(
  house: TestSite,
  key: string,
  working: WorkingRunner,
  { victim, after, millis }: Kill,
): Promise<void> {
  if (after !== 'start') await working.waitFor(after);
  await Promise.race([pause(millis), working.exitCode]);
  if (victim !== 'agent') kill(working.pid);
  if (victim !== 'runner') for (const pid of await processesOf(house.home, key)) kill(pid);
  if (victim !== 'agent') await working.exitCode;
}

const executionOf = async ({ client }: TestSite, key: string) =>
  (await client.deliveryExecutions.getForTarget({ targetType: 'story', targetId: key })).execution;

const isHeld = async (house: TestSite, key: string): Promise<boolean> =>
  ['leased', 'stalled'].includes((await executionOf(house, key))?.state ?? 'none');

/** Another machine asks for the story while the first machine works on it. The request must be refused. */
async function runRival(
  house: TestSite,
  key: string,
  first: WorkingRunner,
  agent: readonly string[],
): Promise<void> {
  await first.waitFor('checkpoint');
  await Promise.race([pause(2 * leaseSeconds * 1_000), first.exitCode]);
  const { home, main, origins } = house;
  const other = await openMachine({ home, origin: origins.open, main }, `${key}-c`, house.api);
  const second = other.start(['--json', key, ...agent]);
  await second.waitFor('taken');
  // The agent of the first machine is busy until this file exists.
  await writeFile(path.join(home, `${key}.ledger.end`), '');
  await second.exitCode;
}

/**
 * Returns true if the machine's setup was killed. In that case the story is released and no work has begun.
 */
const isGivenBack = ({ told }: Pick<RunnerMachine, 'told'>): boolean =>
  told.some(({ message }) => message.includes(' was given back: '));

/**
 * Starts the runner again after each kill, until it ends by itself. Returns the number of times that it was
 * killed.
 */
async function live(
  house: TestSite,
  machine: RunnerMachine,
  key: string,
  life: Life,
  agent: readonly string[],
): Promise<number> {
  const begin = ['--json', key, ...agent];
  let [args, killed] = [begin, 0];
  for (const one of life.kills) {
    const working = machine.start(args);
    await strike(house, key, working, one);
    if ((await working.exitCode) === null) killed += 1;
    if (isGivenBack(machine)) return killed;
    // The runner continues existing work with `--adopt`. With the story's key it would acquire submitted work
    // again.
    args = (await executionOf(house, key)) === null ? begin : ['--json', '--adopt'];
  }
  if (life.goesElsewhere === true && (await isHeld(house, key))) return killed;
  const last = machine.start(args);
  if (life.hasRival === true) await runRival(house, key, last, agent);
  if (life.isLeft === true) {
    await last.waitFor('checkpoint');
    await comesToBe(
      async () => (await machine.git('log', '--all', '--format=%s')).includes('All of it'),
      patienceMillis,
    );
    kill(last.pid, 'SIGINT');
  }
  const code = await last.exitCode;
  if (code !== 0 && code !== 1)
    throw new Error(`it ended with ${code ?? 'a signal'}: ${JSON.stringify(last.events.at(-1))}`);
  return killed;
}

/** Lists the hashes of the blobs that the remote has at this ref. */
const blobsAt = async ({ home }: TestSite, origin: string, ref: string): Promise<string[]> =>
  (await git(home, origin, 'ls-tree', '-r', ref).catch(() => ''))
    .split('\n')
    .filter((line) => line.includes('\twork-'))
    .map((line) => line.split(/\s/)[2] ?? '');

async function goOn(
  house: TestSite,
  origin: string,
  key: string,
  first: RunnerMachine,
  agent: readonly string[],
): Promise<string[]> {
  const before = await executionOf(house, key);
  if (before === null || !(await isHeld(house, key))) return [];
  const checkpoint = await blobsAt(house, origin, `refs/muster/${before.id}/1`);
  await comesToBe(async () => (await executionOf(house, key))?.state !== 'leased', patienceMillis);
  // The runner was killed during its last call, so the work is submitted already. Another machine would start
  // over.
  if (!(await isHeld(house, key))) return [];
  const { home, main } = house;
  const second = await openMachine({ home, origin, main }, `${key}-b`, house.api);
  await second.start(['--json', key, ...agent]).exitCode;
  const after = await executionOf(house, key);
  const found: string[] = [];
  if (after?.attempt !== 2) found.push(`the second machine had attempt ${after?.attempt ?? 0}`);
  const has = new Set(await blobsAt(house, origin, after?.git?.branch ?? ''));
  const missing = checkpoint.filter((blob) => !has.has(blob)).length;
  if (missing > 0) found.push(`the second machine went on without ${missing} files of the checkpoint`);
  // The first machine comes back and finds that another one has its story.
  await first.start(['--json', '--adopt']).exitCode;
  return found;
}

/** Returns the hash of every blob that is at the remote or in a folder of the machine. */
async function keptBlobs({ home }: TestSite, origin: string, machine: RunnerMachine): Promise<Set<string>> {
  const remote = await git(home, origin, 'rev-list', '--objects', '--all', '--no-object-names');
  const find = [
    '-c',
    'find ../web.worktrees -type f -name "*.txt" 2>/dev/null | git hash-object --stdin-paths',
  ];
  const { stdout } = await shell('sh', find, { cwd: machine.folder });
  return new Set([...remote.split('\n'), ...stdout.split('\n')]);
}

async function lookAt(
  house: TestSite,
  origin: string,
  machine: RunnerMachine,
  key: string,
  life: Life,
): Promise<string[]> {
  const found: string[] = [];
  const execution = await executionOf(house, key);
  if (!(await comesToBe(async () => (await processesOf(house.home, key)).length === 0, 15_000)))
    found.push('processes of the agent are left');
  const state = execution?.state ?? 'none';
  const wanted = life.isLeft === true || isGivenBack(machine) ? ['available'] : ['submitted', 'completed'];
  if (!wanted.includes(state)) found.push(`the work is ${state}`);
  if (life.goesElsewhere !== true && execution?.attempt !== 1)
    found.push(`there were ${execution?.attempt ?? 0} owners`);
  const branches = (
    await git(
      house.home,
      origin,
      'for-each-ref',
      '--format=%(objectname) %(refname:short)',
      `refs/heads/muster/${key}-*`,
    )
  ).split('\n');
  const names = branches.filter((line) => line !== '').map((line) => line.split(' ')[1] ?? '');
  const epochs = names.map((name) => /-e(\d+)-/.exec(name)?.[1]);
  if (new Set(epochs).size < names.length) found.push(`an epoch has two branches: ${names.join(', ')}`);
  const handedIn = `${execution?.git?.headSha ?? ''} ${execution?.git?.branch ?? ''}`;
  if (state === 'submitted' && !branches.includes(handedIn))
    found.push('what was handed in is not at the remote');
  const ledger = (await readFile(path.join(house.home, `${key}.ledger`), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '');
  const kept = await keptBlobs(house, origin, machine);
  const lost = losesFiles(life.agent) ? [] : ledger.filter((blob) => !kept.has(blob));
  if (lost.length > 0) found.push(`${lost.length} of ${ledger.length} files that were written are nowhere`);
  const journal = await git(house.home, machine.folder, 'rev-parse', '--git-common-dir');
  const { stdout: entries } = await shell('sh', ['-c', 'cat muster/runs/*/run.json 2>/dev/null || true'], {
    cwd: path.resolve(machine.folder, journal),
  });
  const listed = (await machine.git('worktree', 'list', '--porcelain'))
    .split('\n')
    .filter((line) => line.startsWith('worktree '));
  for (const folder of listed.slice(1).map((line) => line.slice('worktree '.length))) {
    if (!entries.includes(`"folder": "${folder}"`))
      found.push(`the journal does not know ${path.basename(folder)}`);
  }
  await machine
    .git('fsck', '--connectivity-only', '--no-dangling')
    .catch((error: unknown) => found.push(String(error)));
  const again = machine.start(['--json', '--adopt']);
  if ((await again.exitCode) !== 0 || again.events.some(({ event }) => event === 'over'))
    found.push('what was over is gone on with again');
  if (found.length === 0) return [];
  const kills = life.kills.map(({ victim, after, millis }) => `${victim} killed ${millis} ms after ${after}`);
  const told = machine.told.map(({ event, message }) => `      ${event}: ${message}`);
  return [[`${key} (${[life.agent, ...kills].join(', ')}): ${found.join('; ')}`, ...told].join('\n')];
}

const run: RunProperty<Extent> = async ({ seed, services, note }, { lives: livesBy, atOnce }, removals) => {
  const lives = livesBy(new Dice(seed));
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-prove-runner-')));
  services.onStop(() => rm(home, { recursive: true, force: true }));
  const main = await findBundle(services, 'cli', removals);
  const { people, api } = await openApi(services, { people: 1 });
  const [{ token }] = people;
  const client = connect({ baseUrl: api.url, token });
  await client.policy.update({ defaultLeaseTtlSeconds: leaseSeconds, wipLimits: 'off' });
  await client.projects.create({ key: 'RUN', name: 'Runners' });
  const origin = await makeOrigin(home, config);
  const deaf = path.join(home, 'deaf.git');
  await git(home, home, 'clone', '--quiet', '--bare', origin, deaf);
  const refuses = path.join(deaf, 'hooks/pre-receive');
  await writeFile(refuses, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const house: TestSite = {
    home,
    main,
    client,
    api: { url: api.url, token },
    origins: { open: origin, deaf },
  };
  const violations: string[] = [];
  let [killed, written] = [0, 0];
  const left = [...lives];
  const next = async (): Promise<void> => {
    for (let life = left.shift(); life !== undefined; life = left.shift()) {
      const { story } = await client.stories.create({ projectId: 'RUN', title: 'Go on', status: 'ready' });
      const { key } = story;
      const ledger = path.join(home, `${key}.ledger`);
      const agent = agents[life.agent](ledger);
      const place = house.origins[life.isRefused === true ? 'deaf' : 'open'];
      const machine = await openMachine({ home, origin: place, main }, `${key}-a`, house.api);
      try {
        const kills = await live(house, machine, key, life, agent);
        killed += kills;
        if (life.goesElsewhere === true)
          violations.push(
            ...(await goOn(house, place, key, machine, agent)).map((what) => `${key}: ${what}`),
          );
        violations.push(...(await lookAt(house, place, machine, key, life)));
      } catch (error) {
        violations.push(
          `${key} (${life.agent}): ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
        );
      }
      const lines = await readFile(ledger, 'utf8').catch(() => '');
      written += lines.split('\n').length - 1;
      if (lives.length > 20 && left.length % 20 === 0)
        note(`${lives.length - left.length} of ${lives.length} runs begun`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return { violations, figures: { runs: lives.length, 'runners killed': killed, 'files written': written } };
};

const chosenAnd =
  (count: number): Extent['lives'] =>
  (dice) => [...chosen, ...Array.from({ length: count }, () => draw(dice))];
const only = (isWanted: (life: Life) => boolean | undefined): Extent => ({
  ...{ lives: () => chosen.filter(isWanted), atOnce: 1 },
});

export const runner = property<Extent>({
  name: 'runner',
  leftTo: 'nx long',
  promise:
    'Whatever is killed of a runner, its agent and its machine: what was written is kept, a story has one owner, no process is left, and the run reaches its end.',
  short: { lives: chosenAnd(2), atOnce: 7 },
  long: { lives: chosenAnd(500), atOnce: 6 },
  run,
  controls: [
    {
      name: 'the journal is written after the step',
      leftTo: 'nx long',
      extent: only(({ kills }) => kills[0]?.after === 'hook'),
      without: [without('the journal goes before the step', 'await Promise.resolve();')],
    },
    {
      name: 'a worktree without uncommitted changes is given back',
      leftTo: 'nx long',
      extent: only(({ isRefused }) => isRefused),
      without: [
        without(
          'only what the remote has is given back',
          "if ((await worktree.git(['status', '--porcelain'])) !== '') return no;",
        ),
      ],
    },
    {
      // Without its timer, a lease is renewed only when the agent causes a call.
      name: 'a lease is renewed in the thread of the agent',
      // The control lasts as long as the property, because it waits until a lease would have ended.
      leftTo: 'the long form',
      extent: only(({ hasRival }) => hasRival),
      without: [without('a lease is renewed in a timer of its own', 'timer = undefined;')],
    },
  ],
});
