/** muster login, logout, whoami, profiles. */
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { jsonText, onOneLine } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../failures.ts';
import { clientOf } from '../operations/run.ts';
import { pageOfStdout, showList, showRecord } from '../output/show.ts';
import {
  addConnectionFlags,
  type Connection,
  type ConnectionFlags,
  findConnection,
  toBaseUrl,
} from './connection.ts';
import { firstProfile, profilesFile, readProfiles, writeProfiles } from './profiles.ts';

const usualAddress = 'http://127.0.0.1:4100';

async function askAddress(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('needs --base-url where nobody can be asked');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = (await asking.question(`Address of the API (${usualAddress}): `)).trim();
    return toBaseUrl(typed === '' ? usualAddress : typed);
  } catch (error) {
    throw error instanceof InvalidArgumentError ? new UsageError(`address: ${error.message}`) : error;
  } finally {
    asking.close();
  }
}

/** Typed without being shown, or from stdin. On the command line others of the machine could read it. */
async function askToken(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  if (given === '-') return (await readAll(process.stdin)).trim();
  if (!process.stdin.isTTY) throw new UsageError('needs --token - (from stdin) where nobody can be asked');
  const { default: password } = await import('@inquirer/password');
  return (await password({ message: 'Token:' }, { output: process.stderr })).trim();
}

const identityOf = (connection: Connection) => clientOf(connection).session.identity();

async function login({ baseUrl, token, profile = firstProfile }: ConnectionFlags): Promise<void> {
  const connection: Connection = {
    baseUrl: baseUrl ?? (await askAddress()),
    token: await askToken(token),
    from: 'what was typed',
  };
  if (connection.token === '') throw new UsageError('the token is empty');
  const { member, org } = await identityOf(connection);
  const { profiles } = await readProfiles();
  await writeProfiles({
    current: profile,
    profiles: { ...profiles, [profile]: { baseUrl: connection.baseUrl, token: connection.token } },
  });
  process.stdout.write(
    `Signed in to ${onOneLine(org.name)} at ${connection.baseUrl} as ${onOneLine(member.name)}, ${member.role}. Kept in ${profilesFile()} as "${profile}".\n`,
  );
}

async function logout({ profile, all = false }: { profile?: string; all?: boolean }): Promise<void> {
  const { current, profiles } = await readProfiles();
  if (all) {
    await writeProfiles({ current: null, profiles: {} });
    process.stdout.write('No login is kept any more.\n');
    return;
  }
  const name = profile ?? current;
  if (name === null || !Object.hasOwn(profiles, name)) {
    throw new UsageError(name === null ? 'nobody is signed in' : `there is no login "${name}"`);
  }
  const { [name]: _, ...others } = profiles;
  const [next = null] = name === current ? Object.keys(others) : [current];
  await writeProfiles({ current: next, profiles: others });
  process.stdout.write(
    `The login "${name}" is forgotten; its token still works until it is revoked or expires.${next === null ? '' : ` "${next}" counts now.`}\n`,
  );
}

async function whoami(flags: ConnectionFlags & { json?: boolean }): Promise<void> {
  const connection = await findConnection(flags);
  const identity = await identityOf(connection);
  if (flags.json === true) {
    process.stdout.write(`${jsonText(identity)}\n`);
    return;
  }
  const { member, org, token, teams } = identity;
  const lines = showRecord({
    member: `${member.name} <${member.email}>, @${member.handle}, ${member.role}`,
    organization: `${org.name} (${org.slug})`,
    ...(teams.length > 0 && { teams: teams.map(({ name, role }) => `${name} (${role})`) }),
    token: token.name,
    agent: token.agentId,
    scopes: token.scopes,
    expires: token.expiresAt,
    address: connection.baseUrl,
    from: connection.from,
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function listProfiles({ use, json }: { use?: string; json?: boolean }): Promise<void> {
  const { current, profiles } = await readProfiles();
  if (use !== undefined) {
    if (!Object.hasOwn(profiles, use)) throw new UsageError(`there is no login "${use}"`);
    await writeProfiles({ current: use, profiles });
    process.stdout.write(`"${use}" counts now.\n`);
    return;
  }
  const items = Object.entries(profiles).map(([name, { baseUrl, token }]) => ({
    ...{ name, baseUrl, endsIn: `…${token.slice(-4)}`, current: name === current },
  }));
  process.stdout.write(
    json === true ? `${jsonText({ items })}\n` : `${showList(items, pageOfStdout()).join('\n')}\n`,
  );
}

export function addSession(program: Command): void {
  program
    .command('login')
    .summary('Keep an address and a token for the commands that follow')
    .description(
      'Asks for the address of the API and for a token, tries them, and keeps them for the commands that follow.',
    )
    .option('--base-url <url>', 'the address of the API; asked for where it is missing', toBaseUrl)
    .option('--token <token>', '- reads it from stdin; asked for, unseen, where it is missing')
    .option('--profile <name>', `under which name; several are kept side by side (default "${firstProfile}")`)
    .action(login);
  program
    .command('logout')
    .summary('Forget a login')
    .description('Forgets a login. The token itself is not revoked.')
    .option('--profile <name>', 'which; the one that counts now unless said')
    .option('--all', 'all of them')
    .action(logout);
  addConnectionFlags(
    program
      .command('whoami')
      .summary('Say who the token is, and where it goes')
      .description('Says who the token is, what it may do, and where calls go.')
      .option('--json', 'print session.identity as JSON, for scripts'),
  ).action(whoami);
  program
    .command('profiles')
    .summary('List the logins that are kept')
    .description('Lists the logins that are kept, without their tokens, or says which one counts.')
    .option('--use <name>', 'make it the one that counts')
    .option('--json', 'print the list as JSON, for scripts')
    .action(listProfiles);
}
