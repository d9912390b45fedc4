/** Tries one client at a time, with a valid and with an invalid token. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { clientsFolder, packages } from './packages.ts';
import { type Probe } from './probes.ts';
import { record } from './recorder.ts';

const Seen = z.object({ tools: z.int(), called: z.string(), refused: z.string() });

export interface ClientTrial {
  readonly name: string;
  readonly version: string;
  readonly opens: string;
  readonly tools: number | null;
  /**
   * The number of tools that the client declared strict to its model. Undefined for clients without a model.
   */
  readonly strict?: number;
  /**
   * True if the answer arrived as the gateway sent it. `refusal` is true if the refusal arrived with its
   * hint.
   */
  readonly call: boolean;
  readonly refusal: boolean;
  /** The number of tool calls until a model's work was submitted. Undefined for clients without a model. */
  readonly callsToGoal?: number;
  /** The message that the user sees if the token is refused. */
  readonly badToken: string;
  /** The problem, if there was one. */
  readonly trouble?: string;
}

const timeoutMillis = 90_000;
export const mostShown = 90;

interface ClientRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a client to its end. Returns what it printed. */
export async function runClient({ file, args, cwd, env }: ClientRun): Promise<string> {
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMillis,
    killSignal: 'SIGKILL',
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += String(piece)));
  await once(child, 'close');
  return text;
}

/** Runs a Node module in the folder of its packages. */
export const runModule = (
  cwd: string,
  source: string,
  env: Readonly<Record<string, string>>,
): Promise<string> =>
  runClient({ file: process.execPath, args: ['--input-type=module', '-e', source], cwd, env });

/** Returns the line of an error that the user reads first. */
export function errorLineIn(said: string): string {
  // Replaces ports, which differ in each run.
  const lines = said
    .replaceAll(/127\.0\.0\.1:\d+/g, 'localhost')
    .split('\n')
    .map((line) => line.trim());
  const thrown = lines.find((one) => /^\w*Error\b.*: /.test(one));
  const line =
    thrown ??
    lines.find((one) => /error|unauthori[sz]ed|token|40[0-9]/i.test(one) && !/^at |^throw |^file:/.test(one));
  const found = line ?? lines.find((one) => one !== '') ?? 'nothing';
  return found.slice(0, mostShown);
}

/** Tries one probe. `folder` contains its packages. */
export async function tryProbe(
  probe: Probe,
  url: string,
  token: string,
  folder = clientsFolder,
): Promise<ClientTrial> {
  const { name, package: from, program } = probe;
  const recorder = await record(url);
  try {
    const run = (secret: string): Promise<string> =>
      runModule(folder, program, { HOME: folder, URL: recorder.url, TOKEN: secret });
    const said = await run(token);
    const [, line] = /^SEEN (.*)$/m.exec(said) ?? [];
    const opens = recorder.opening() ?? 'nothing';
    const refusedToken = await run('must_live_nonsense');
    const about = { name, version: packages[from], opens, badToken: errorLineIn(refusedToken) };
    if (line === undefined)
      return { ...about, tools: null, call: false, refusal: false, trouble: said.slice(0, 1_000) };
    const { tools, called, refused } = Seen.parse(JSON.parse(line));
    const [call, refusal] = [
      called.includes('serverTime'),
      refused.includes('not_found') && refused.includes('hint'),
    ];
    const trouble =
      call && refusal && tools > 0 ? {} : { trouble: (call ? refused : called).slice(0, 1_000) };
    return { ...about, tools, call, refusal, ...trouble };
  } finally {
    await recorder.close();
  }
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('`', "'");

export function table(tried: readonly ClientTrial[]): string {
  const rows = tried.map(
    ({ name, version, opens, tools, strict = 0, call, refusal, callsToGoal, badToken }) => [
      ...[name, version, opens, `${tools ?? 'none'}${strict > 0 ? `, ${strict} strict` : ''}`],
      ...[call ? 'yes' : 'no', refusal ? 'yes' : 'no', String(callsToGoal ?? ''), `\`${cell(badToken)}\``],
    ],
  );
  const head = [
    'client',
    'version',
    'opens with',
    'tools',
    'call',
    'refusal, with its hint',
    'calls to goal',
    'a bad token is shown as',
  ];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
