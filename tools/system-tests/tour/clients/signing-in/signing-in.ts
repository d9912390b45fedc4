/**
 * Tries one client at a time. The client gets only the bare address, is approved by a person, and calls as an
 * agent. After its connection is revoked, it must be refused.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { clientsFolder, packages } from '../packages.ts';
import { startStubModel, type StubModel } from '../stub-model.ts';
import { type SigningClient, type SigningPlace } from './clients.ts';
import { type SigningIn } from './installation.ts';
import { type SigningPerson } from './person.ts';

export interface SignedInClient {
  readonly name: string;
  readonly version: string;
  /**
   * The client's way of registering at the server: `document`, `registration`, or `document` first and then
   * `registration`.
   */
  readonly registers: string;
  /** The redirect address without its port. */
  readonly goesBackTo: string;
  readonly asksFor: string;
  readonly call: boolean;
  readonly refusedAfterwards: boolean;
  readonly trouble?: string;
}

const timeoutMillis = 90_000;
const script = '/usr/bin/script';
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

interface Home {
  readonly folder: string;
  /** Runs the client. Ends it as soon as `until` returns true. */
  run(args: readonly string[], until?: (said: string) => Promise<boolean>): Promise<string>;
  /** Returns the address that the client opened in a browser. */
  opened(): Promise<string>;
  remove(): Promise<void>;
}

async function makeHome(client: SigningClient, place: SigningPlace): Promise<Home> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-client-'));
  for (const [file, text] of Object.entries(client.files(place))) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  const bin = path.join(folder, 'bin');
  const seen = path.join(folder, 'opened');
  const opener = path.join(bin, 'xdg-open');
  await mkdir(bin);
  await writeFile(opener, `#!/bin/sh\nprintf '%s' "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`);
  await chmod(opener, 0o755);
  const [first = '', ...others] = client.program;
  const isNode = first === 'node';
  const inPackages = (file: string): string => path.join(clientsFolder, file);
  const command = [
    isNode ? process.execPath : inPackages(first),
    ...(isNode ? others.map(inPackages) : others),
  ];
  return {
    folder,
    run: async (args, until) => {
      // Runs the client in a pseudo-terminal if `until` is given, because some clients log in only at a
      // terminal.
      const words = [...command, ...args].map(quoted).join(' ');
      const line = until === undefined ? words : `stty cols 4000; ${words}`;
      const child = spawn(
        until === undefined ? '/bin/sh' : script,
        until === undefined ? ['-c', line] : ['-qec', line, '/dev/null'],
        {
          cwd: folder,
          env: {
            ...{ PATH: `${bin}:${process.env['PATH']}`, HOME: folder, NO_COLOR: '1', TERM: 'xterm' },
            ...{ BROWSER: opener, DISPLAY: ':0', ...client.env(place) },
          },
          stdio: [until === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
          ...{ timeout: timeoutMillis, killSignal: 'SIGKILL' as const },
        },
      );
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (piece) => (said += String(piece)));
      const ended = once(child, 'close');
      const isOver = (async () => {
        while (until !== undefined && child.exitCode === null && !(await until(said))) await pause(100);
      })();
      await Promise.race([ended, isOver]);
      if (until === undefined || child.exitCode !== null) await ended;
      // An approved client exits by itself. A client that keeps running is killed.
      else await Promise.race([ended, pause(15_000).then(() => child.kill('SIGKILL'))]);
      return stripVTControlCharacters(said);
    },
    opened: async () => (existsSync(seen) ? readFile(seen, 'utf8') : ''),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

interface LetIn {
  readonly question: URLSearchParams;
  readonly said: string;
  readonly trouble?: string;
}

/** Runs the client's login until the person has approved it. */
async function logIn(
  home: Home,
  args: readonly string[],
  person: SigningPerson,
  agent: string,
): Promise<LetIn> {
  let address = '';
  let letIn: Promise<string | undefined> | undefined;
  const said = await home.run(args, async (heard) => {
    // Some clients print the address if there is no browser to open.
    address = (await home.opened()) || (/navigate to: (\S+)\s/.exec(heard)?.[1] ?? '');
    if (address === '') return false;
    letIn = person.letIn(address, agent);
    await letIn;
    return true;
  });
  const question = new URL(address === '' ? 'http://nothing' : address).searchParams;
  const trouble = address === '' ? `it opened no page, and said: ${said.slice(-600)}` : await letIn;
  return { question, said, ...(trouble !== undefined && { trouble }) };
}

const withoutPort = (address: string): string =>
  URL.canParse(address) ? address.replace(/(127\.0\.0\.1|localhost):\d+/, '$1') : 'nothing';
const wayOf = (question: URLSearchParams): string =>
  (question.get('client_id') ?? '').startsWith('https:') ? 'document' : 'registration';

/**
 * Returns true if the client called as this agent. It reads the messages to the client's model, or else the
 * output.
 */
async function calls(
  client: SigningClient,
  home: Home,
  place: SigningPlace,
  { agent, model }: { readonly agent: string; readonly model: StubModel },
): Promise<{ readonly asAgent: boolean; readonly said: string }> {
  const before = model.heard().length;
  const said = await home.run(client.call(place));
  return { asAgent: (model.heard().slice(before) + said).includes(agent), said };
}

export async function trySigningIn(
  client: SigningClient,
  installation: SigningIn,
  person: SigningPerson,
): Promise<SignedInClient> {
  const model = await startStubModel(2);
  const place = { url: `${installation.baseUrl}/api/mcp?mode=core`, model: model.url };
  const agent = `Agent of ${client.name}`;
  const ways: string[] = [];
  let home: Home | undefined;
  try {
    let letIn: LetIn | undefined;
    for (const takesDocuments of [true, false]) {
      installation.takesDocuments(takesDocuments);
      await home?.remove();
      home = await makeHome(client, place);
      if (client.setUp !== undefined) await home.run(client.setUp(place));
      letIn = await logIn(home, client.login(place), person, agent);
      ways.push(wayOf(letIn.question));
      // Without a network the server cannot fetch the client's document. The second try offers only
      // registration.
      if (letIn.trouble === undefined || ways[0] !== 'document') break;
    }
    if (home === undefined || letIn === undefined) throw new Error('nothing was tried');
    const { question, trouble } = letIn;
    const about = {
      ...{ name: client.name, version: packages[client.package], registers: ways.join(', then ') },
      goesBackTo: withoutPort(question.get('redirect_uri') ?? ''),
      asksFor: question.get('scope') ?? '',
    };
    if (trouble !== undefined) return { ...about, call: false, refusedAfterwards: false, trouble };
    const first = await calls(client, home, place, { agent, model });
    const { items } = await installation.owner.connections.list({});
    for (const connection of items)
      await installation.owner.connections.revoke({ connectionId: connection.id });
    const second = await calls(client, home, place, { agent, model });
    const isFine = first.asAgent && !second.asAgent;
    return {
      ...{ ...about, call: first.asAgent, refusedAfterwards: !second.asAgent },
      ...(!isFine && { trouble: `${letIn.said.slice(-400)}\n${first.said.slice(-600)}` }),
    };
  } finally {
    await home?.remove();
    await model.close();
  }
}

export function signingTable(tried: readonly SignedInClient[]): string {
  const rows = tried.map((one) => [
    ...[one.name, one.version, one.registers, `\`${one.goesBackTo}\``, `\`${one.asksFor}\``],
    ...[one.call ? 'yes' : 'no', one.refusedAfterwards ? 'yes' : 'no'],
  ]);
  const head = [
    ...['client', 'version', 'known by', 'is sent back to', 'asks for', 'calls as the agent'],
    'refused once it is ended',
  ];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
