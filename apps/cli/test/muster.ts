/**
 * The command line as a process, in front of a coordination-api that runs as one: an app never imports another, and
 * neither do its specs. People are made as everywhere, in a database of the spec's own.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';
import { type Client, createClient, httpTransport } from '@muster/client';
import {
  type AppProcess,
  freePort,
  type Person,
  programEnvironment,
  startApp,
  useWorld,
  type World,
} from '@muster/testing';
import { builtMain } from '@muster/testing/bundles';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
export const mainFile = builtMain('cli') ?? (await findBundle());

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/**
 * The command line as it ships, where Nx did not make it for these specs. All spec files of a process share one, though each
 * has this module anew.
 */
function findBundle(): Promise<string> {
  const made: typeof globalThis & { musterCli?: Promise<string> } = globalThis;
  return (made.musterCli ??= bundle());
}

async function bundle(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-cli-bundle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await promisify(execFile)(process.execPath, ['tools/build/build-app.ts', 'apps/cli', folder], {
    cwd: workspaceRoot,
  });
  return path.join(folder, 'main.js');
}

/** Starts the real file as a process; of the environment it knows nothing but what is said here. */
const spawnMuster = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  spawn(process.execPath, [mainFile, ...args], {
    env: { ...programEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });

export async function runMuster(
  args: readonly string[],
  { env = {}, input = '' }: RunOptions,
): Promise<Outcome> {
  const child = spawnMuster(args, env);
  // A command that does not read its input may be over before it is written.
  child.stdin.on('error', () => undefined).end(input);
  const [out, err, exit] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const [code] = exit as [number];
  return { code, out, err };
}

export interface Started {
  kill(signal: NodeJS.Signals): void;
  /** All that it has said so far. */
  shown(): string;
  /** Once it has said that. */
  until(what: RegExp): Promise<RegExpExecArray>;
  /** The exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>;
}

function start(args: readonly string[], env: Readonly<Record<string, string>>): Started {
  const child = spawnMuster(args, env);
  let shown = '';
  let heard = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (said: string) => {
      shown += said;
      heard();
    });
  }
  let isOver = false;
  const ended = once(child, 'close').then(([code]) => {
    isOver = true;
    heard();
    return code as number | null;
  });
  return {
    ended,
    kill: (signal) => void child.kill(signal),
    shown: () => shown,
    until: (what) =>
      new Promise((resolve, reject) => {
        heard = () => {
          const found = what.exec(shown);
          if (found !== null) resolve(found);
          else if (isOver) reject(new Error(`it ended and had said:\n${shown}`));
        };
        heard();
      }),
  };
}

export interface Muster {
  readonly world: World;
  url(): string;
  /** A folder of the spec's own, where the login is kept. */
  home(): string;
  /** The typed client straight to the API, to look at what is really there. */
  direct(person: Person): Client;
  /** As nobody: no address, no token but what was kept. */
  run(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** A run that can be killed, and is heard while it goes on. */
  start(args: readonly string[], options: RunOptions): Started;
  /** As somebody, by the environment. */
  as(person: Person, ...args: readonly string[]): Promise<Outcome>;
  environmentOf(person: Person): Record<string, string>;
}

/** Starts the API for the spec file that calls it; with sign-in behind it, where one click signs in as the demo account. */
export function useMuster({ demoAccount }: { readonly demoAccount?: string } = {}): Muster {
  const world = useWorld({});
  let [api, signIn]: (AppProcess | undefined)[] = [];
  let home = '';

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'muster-cli-'));
    const own = { DATABASE_URL: world.database.url };
    if (demoAccount === undefined) {
      api = await startApp('apps/coordination-api/src/main.ts', own);
      return;
    }
    const port = String(await freePort());
    const place = { ...own, BASE_URL: `http://127.0.0.1:${port}` };
    signIn = await startApp('apps/sign-in/src/main.ts', {
      ...{ ...place, MAIL_FOLDER: home, DEMO_ACCOUNT: demoAccount, LIMIT_SIGN_IN: '10000/0.001' },
    });
    api = await startApp('apps/coordination-api/src/main.ts', {
      ...{ ...place, PORT: port, SIGN_IN_URL: signIn.url },
    });
  });
  afterAll(async () => {
    await api?.stop();
    await signIn?.stop();
    await rm(home, { recursive: true });
  });

  const url = (): string => api?.url ?? '';
  const run: Muster['run'] = (args, { env, input = '' } = {}) =>
    runMuster(args, { env: { HOME: home, XDG_CONFIG_HOME: home, ...env }, input });
  const environmentOf = (person: Person) => ({ MUSTER_BASE_URL: url(), MUSTER_TOKEN: person.me.token });
  return {
    world,
    url,
    home: () => home,
    direct: ({ me: { token } }) => createClient(httpTransport({ baseUrl: url(), token })),
    run,
    start: (args, { env = {} }) => start(args, { HOME: home, XDG_CONFIG_HOME: home, ...env }),
    environmentOf,
    as: (person, ...args) => run(args, { env: environmentOf(person) }),
  };
}
