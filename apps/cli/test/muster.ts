/**
 * Runs the command line as a process against a coordination-api in another process. An app never imports
 * another, and neither do its specs.
 * People are created as in other specs, in a separate database.
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
  findFreePort,
  type Person,
  programEnvironment,
  startApp,
  useWorld,
  type World,
} from '@muster/testing';
import { builtMainFile } from '@muster/testing/bundles';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
export const mainFile = builtMainFile('cli') ?? (await findBundle());

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The folder in which the command runs, by default that of the specs. */
  readonly cwd?: string | undefined;
}

/**
 * Returns the command line as it ships, building it if Nx did not. All spec files of a process share it,
 * although each loads this module again.
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

/** Starts the real file as a process. Its environment has only the given variables. */
const spawnMuster = (args: readonly string[], env: Readonly<Record<string, string>>, cwd?: string) =>
  spawn(process.execPath, [mainFile, ...args], {
    ...{ cwd, env: { ...programEnvironment(), ...env } },
    stdio: ['pipe', 'pipe', 'pipe'],
  });

export async function runMuster(
  args: readonly string[],
  { env = {}, input = '', cwd }: RunOptions,
): Promise<CommandResult> {
  const child = spawnMuster(args, env, cwd);
  // A command that does not read its standard input may exit before the input is written.
  child.stdin.on('error', () => undefined).end(input);
  const [out, err, exit] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const [code] = exit as [number];
  return { code, out, err };
}

export interface StartedMuster {
  kill(signal: NodeJS.Signals): void;
  /** Returns the output so far. */
  outputText(): string;
  /** Resolves once the output matches the pattern. */
  waitForOutput(what: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or with null if a signal ended the command. */
  readonly exitCode: Promise<number | null>;
}

function start(args: readonly string[], env: Readonly<Record<string, string>>): StartedMuster {
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
    exitCode: ended,
    kill: (signal) => void child.kill(signal),
    outputText: () => shown,
    waitForOutput: (what) =>
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
  /** Returns the folder in which this spec's logins are stored. */
  home(): string;
  /** Returns a typed client directly at the API, to check what is really stored. */
  apiClient(person: Person): Client;
  /** Runs a command with no address and token except those of a stored login. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** Starts a command that can be killed, with its output so far. */
  start(args: readonly string[], options: RunOptions): StartedMuster;
  /** Runs a command with the address and the person's token in the environment. */
  runAs(person: Person, ...args: readonly string[]): Promise<CommandResult>;
  environmentOf(person: Person): Record<string, string>;
}

/**
 * Starts the API for the calling spec file. With a demo account it also starts sign-in, where one click signs
 * in.
 */
export function useMuster({ demoAccount }: { readonly demoAccount?: string } = {}): Muster {
  const world = useWorld({});
  let [api, signIn]: (AppProcess | undefined)[] = [];
  let home = '';

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'muster-cli-'));
    const own = { DATABASE_URL: world.database.url };
    const port = String(await findFreePort());
    const place = { ...own, BASE_URL: `http://127.0.0.1:${port}` };
    if (demoAccount === undefined) {
      const files = { FILES_FOLDER: path.join(home, 'files') };
      api = await startApp('apps/coordination-api/src/main.ts', { ...place, ...files, PORT: port });
      return;
    }
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
  const run: Muster['run'] = (args, { env, input = '', cwd } = {}) =>
    runMuster(args, { env: { HOME: home, XDG_CONFIG_HOME: home, ...env }, input, cwd });
  const environmentOf = (person: Person) => ({ MUSTER_BASE_URL: url(), MUSTER_TOKEN: person.me.token });
  return {
    world,
    url,
    home: () => home,
    apiClient: ({ me: { token } }) => createClient(httpTransport({ baseUrl: url(), token })),
    run,
    start: (args, { env = {} }) => start(args, { HOME: home, XDG_CONFIG_HOME: home, ...env }),
    environmentOf,
    runAs: (person, ...args) => run(args, { env: environmentOf(person) }),
  };
}
