/** The commands `muster login`, `logout`, `whoami` and `profiles`. */
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { MusterError } from '@muster/client';
import {
  terminalSafeJson,
  sanitizeToOneLine,
  stdoutFormat,
  sanitizeForTerminal,
  UsageError,
} from '@muster/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { clearCompletionCache } from '../completion/kept.ts';
import { createCommandClient } from '../operations/run.ts';
import { formatList, formatRecord } from '../output/show.ts';
import { hasBrowser, openBrowser } from './browser.ts';
import {
  addConnectionFlags,
  type CommandConnection,
  type ConnectionFlags,
  findConnection,
  parseBaseUrl,
} from './connection.ts';
import {
  startDeviceSignIn,
  fetchMetadata,
  type StoredLogin,
  type Metadata,
  revokeLogin,
  pollForDeviceToken,
} from './oauth.ts';
import { updateProfiles, defaultProfileName, type Profile, profilesFile, readProfiles } from './profiles.ts';

const defaultAddress = 'http://127.0.0.1:4100';

async function promptForAddress(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('needs --base-url, because there is no terminal to ask on');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = (await asking.question(`Address of the API (${defaultAddress}): `)).trim();
    return parseBaseUrl(typed === '' ? defaultAddress : typed);
  } catch (error) {
    throw error instanceof InvalidArgumentError ? new UsageError(`address: ${error.message}`) : error;
  } finally {
    asking.close();
  }
}

/**
 * Reads the token from a hidden prompt or from stdin. Other users of the machine could read a command line
 * argument.
 */
async function readTokenFlag(tokenFlag: string | undefined): Promise<string> {
  if (tokenFlag !== undefined && tokenFlag !== '-') return tokenFlag;
  if (tokenFlag === '-') return (await readAll(process.stdin)).trim();
  if (!process.stdin.isTTY)
    throw new UsageError('needs --token - (from stdin), because there is no terminal to ask on');
  const { default: password } = await import('@inquirer/password');
  return (await password({ message: 'Token:' }, { output: process.stderr })).trim();
}

const fetchIdentity = (connection: CommandConnection) => createCommandClient(connection).session.identity();

interface LoginFlags extends ConnectionFlags {
  readonly device?: boolean;
  readonly scope: keyof typeof scopesByLevel;
}

/** The requested scopes. Each level includes those before it. */
const scopesByLevel = { read: 'read', write: 'read write', admin: 'read write admin' } as const;

async function resolveAddress(addressArgument: string | undefined, { baseUrl }: LoginFlags): Promise<string> {
  if (addressArgument !== undefined && baseUrl !== undefined)
    throw new UsageError('use either [address] or --base-url, not both');
  return addressArgument ?? baseUrl ?? promptForAddress();
}

/** The time limit for the browser of this machine. It is enough to read a sign-in mail. */
const browserTimeoutMillis = 5 * 60_000;

/**
 * Signs in with the browser of this machine. Returns undefined if no browser opened or the person did not
 * finish.
 */
async function signInWithLocalBrowser(metadata: Metadata, scope: string): Promise<StoredLogin | undefined> {
  const { signInByBrowser } = await import('./loopback.ts');
  const given = await signInByBrowser(metadata, scope, {
    ...{ openUrl: openBrowser, timeoutMillis: browserTimeoutMillis },
    onStarted: (url) => {
      process.stderr.write(
        `Your browser opens, and asks you what the command line may do. If it does not open, open this address on this machine:\n  ${url}\nUse --device to sign in from another machine with a code. Press Ctrl-C to cancel.\n`,
      );
    },
  });
  if (given === undefined)
    process.stderr.write('No answer came from a browser on this machine. On any machine:\n');
  return given;
}

/** Signs in with a browser on any machine, in which the person types a code. */
async function signInWithDeviceCode(metadata: Metadata, scope: string): Promise<StoredLogin> {
  const device = await startDeviceSignIn(metadata, scope);
  process.stderr.write(
    `Open   ${sanitizeForTerminal(device.verification_uri)}\nType   ${sanitizeForTerminal(device.user_code)}\nThe code is valid for ${Math.ceil(device.expires_in / 60)} minutes. Press Ctrl-C to cancel.\n`,
  );
  return pollForDeviceToken(metadata, device);
}

/** Signs in with a browser. Returns undefined if the installation has no sign-in. */
async function signIn(
  baseUrl: string,
  { scope, device = false }: LoginFlags,
): Promise<StoredLogin | undefined> {
  const metadata = await fetchMetadata(baseUrl);
  if (metadata === undefined) return undefined;
  const here =
    !device && hasBrowser() ? await signInWithLocalBrowser(metadata, scopesByLevel[scope]) : undefined;
  return here ?? signInWithDeviceCode(metadata, scopesByLevel[scope]);
}

/**
 * Returns the owner of the token. Throws UsageError if the address is wrong, such as the address of the docs,
 * which has no such operation.
 */
async function fetchIdentityOrExplain(newProfile: Profile) {
  try {
    return await fetchIdentity({ ...newProfile, tokenSource: 'the input' });
  } catch (error) {
    if (!(error instanceof MusterError) || error.reason !== 'no_such_path') throw error;
    throw new UsageError(`there is no Muster API at ${newProfile.baseUrl}; check the address`);
  }
}

async function login(address: string | undefined, flags: LoginFlags): Promise<void> {
  const { profile = defaultProfileName } = flags;
  const baseUrl = await resolveAddress(address, flags);
  const signedIn = flags.token === undefined ? await signIn(baseUrl, flags) : undefined;
  const made: Profile = { baseUrl, ...(signedIn ?? { token: await readTokenFlag(flags.token) }) };
  if (made.token === '') throw new UsageError('the token is empty');
  const { member, agent, org } = await fetchIdentityOrExplain(made);
  const { replaced, previous } = await updateProfiles(async ({ current, profiles }) => ({
    after: { current: profile, profiles: { ...profiles, [profile]: made } },
    result: {
      replaced: Object.hasOwn(profiles, profile) ? profiles[profile] : undefined,
      previous: current === profile ? null : current,
    },
  })).catch(async (error: unknown) => {
    if (made.oauth !== undefined) await revokeLogin(made.oauth);
    throw error;
  });
  // Revokes the replaced login, so that a token that is no longer stored cannot be used.
  if (replaced?.oauth !== undefined) await revokeLogin(replaced.oauth);
  const as = agent === null ? '' : `, as the agent ${sanitizeToOneLine(agent.name)}`;
  process.stdout.write(
    `Signed in to ${sanitizeToOneLine(org.name)} at ${baseUrl} as ${sanitizeToOneLine(member.name)}, ${member.role}${as}. Saved in ${profilesFile()} as "${profile}".\n`,
  );
  if (previous !== null)
    process.stdout.write(
      `"${profile}" is the current login now, instead of "${previous}". "muster profiles --use" selects another.\n`,
    );
}

/** Describes the state of the token of a login that was deleted from this machine. */
async function revokeAndDescribe(name: string, { oauth }: Profile): Promise<string> {
  if (oauth === undefined)
    return `The login "${name}" was removed from this machine; its token still works until it is revoked or expires.`;
  return (await revokeLogin(oauth))
    ? `The login "${name}" was removed from this machine, and its connection was revoked.`
    : `The login "${name}" was removed from this machine, but its connection could not be revoked; it stays until it expires or you call connections.revoke.`;
}

async function logout({ profile, all = false }: { profile?: string; all?: boolean }): Promise<void> {
  const { forgotten, next } = await updateProfiles(async ({ current, profiles }) => {
    const name = profile ?? current;
    if (!all && (name === null || !Object.hasOwn(profiles, name)))
      throw new UsageError(
        name === null ? 'there is no login on this machine' : `there is no login "${name}"`,
      );
    const kept = Object.entries(profiles);
    const isGone = ([one]: readonly [string, Profile]): boolean => all || one === name;
    const others = kept.filter((entry) => !isGone(entry));
    const [counts = null] = all || name === current ? others.map(([one]) => one) : [current];
    return {
      after: { current: counts, profiles: Object.fromEntries(others) },
      result: { forgotten: kept.filter(isGone), next: counts },
    };
  });
  await clearCompletionCache();
  const ends = await Promise.all(forgotten.map(([name, its]) => revokeAndDescribe(name, its)));
  const last = all ? ['No login is left on this machine.'] : [];
  const lines = [...(all ? ends.filter((_, at) => forgotten[at]?.[1].oauth !== undefined) : ends), ...last];
  process.stdout.write(
    `${lines.join('\n')}${all || next === null ? '' : ` "${next}" is the current login now.`}\n`,
  );
}

async function printIdentity(flags: ConnectionFlags & { json?: boolean }): Promise<void> {
  const connection = await findConnection(flags);
  const identity = await fetchIdentity(connection);
  if (flags.json === true) {
    process.stdout.write(`${terminalSafeJson(identity)}\n`);
    return;
  }
  const { member, org, token, teams, agent } = identity;
  const lines = formatRecord({
    member: `${member.name} <${member.email}>, @${member.handle}, ${member.role}`,
    organization: `${org.name} (${org.slug})`,
    ...(teams.length > 0 && { teams: teams.map(({ name, role }) => `${name} (${role})`) }),
    token: token.name,
    agent: agent === null ? null : `${agent.name}, ${agent.id}`,
    scopes: token.scopes,
    expires: token.expiresAt,
    address: connection.baseUrl,
    from: connection.tokenSource,
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function listProfiles({ use, json }: { use?: string; json?: boolean }): Promise<void> {
  if (use !== undefined) {
    await updateProfiles(async ({ profiles }) => {
      if (!Object.hasOwn(profiles, use)) throw new UsageError(`there is no login "${use}"`);
      return { after: { current: use, profiles }, result: undefined };
    });
    process.stdout.write(`"${use}" is the current login now.\n`);
    return;
  }
  const { current, profiles } = await readProfiles();
  const items = Object.entries(profiles).map(([name, { baseUrl, token }]) => ({
    ...{ name, baseUrl, endsIn: `…${token.slice(-4)}`, current: name === current },
  }));
  process.stdout.write(
    json === true ? `${terminalSafeJson({ items })}\n` : `${formatList(items, stdoutFormat()).join('\n')}\n`,
  );
}

export function addSessionCommands(program: Command): void {
  program
    .command('login')
    .summary('Sign in for the following commands')
    .description(
      'Signs you in for the following commands. Your browser opens, and asks you what the command line may do. Without a browser, and over SSH, it shows an address and a code, and waits until you have entered the code there, on any machine. If the installation has no sign-in, it asks for a token.',
    )
    .argument('[address]', 'the address of the API; the command asks if it is missing', parseBaseUrl)
    .option('--base-url <url>', 'the same as [address]', parseBaseUrl)
    .addOption(
      new Option('--token <token>', 'save this token instead; - reads it from stdin').conflicts('device'),
    )
    .option('--device', 'show a code to enter on another machine, even if there is a browser here')
    .addOption(
      new Option('--scope <scope>', 'the most that the command line may do')
        .choices(Object.keys(scopesByLevel))
        .default('write'),
    )
    .option(
      '--profile <name>',
      `the name of the login; you can have several (default "${defaultProfileName}")`,
    )
    .addHelpText('after', '\nExamples:\n  muster login https://muster.example.com')
    .action(login);
  program
    .command('logout')
    .summary('Remove a login')
    .description(
      'Removes a login from this machine, and revokes it if you had signed in. A token that you provided is not revoked.',
    )
    .option('--profile <name>', 'the login to remove; by default the current one')
    .option('--all', 'all logins')
    .action(logout);
  addConnectionFlags(
    program
      .command('whoami')
      .summary('Show the member and permissions of the current token')
      .description("Shows the token's member and scopes, and the address that calls go to.")
      .option('--json', 'print session.identity as JSON, for scripts'),
  ).action(printIdentity);
  program
    .command('profiles')
    .summary('List the logins on this machine')
    .description('Lists the logins on this machine, without their tokens, or selects the current one.')
    .option('--use <name>', 'make it the current login')
    .option('--json', 'print the list as JSON, for scripts')
    .action(listProfiles);
}
