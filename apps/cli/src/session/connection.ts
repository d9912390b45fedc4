/** Chooses the address of the API and the token for a command. */
import { type RunnerConnection as ApiConnection } from '@muster/runner';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '@muster/terminal';
import { askParentProcess } from '../starter.ts';
import { readProfiles } from './profiles.ts';
import { createRenewingFetch } from './renewing.ts';

/** The connection of a command. Its `fetch` renews the token if a person signed in. */
export interface CommandConnection extends ApiConnection {
  /** Source of the token, for `muster whoami`. */
  readonly tokenSource: string;
}

export interface ConnectionFlags {
  readonly baseUrl?: string;
  readonly token?: string;
  readonly profile?: string;
}

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

export function parseBaseUrl(text: string): string {
  if (!isHttpUrl(text))
    throw new InvalidArgumentError('The value must be an address such as https://muster.example.com.');
  return text;
}

/** Adds the flags that select the address, token and login of one command. */
export function addConnectionFlags(command: Command): Command {
  return command
    .optionsGroup('Where to:')
    .option(
      '--base-url <url>',
      'the address of the API; by default MUSTER_BASE_URL, then that of muster login',
      parseBaseUrl,
    )
    .option('--token <token>', 'the token for the call; by default MUSTER_TOKEN, then that of muster login')
    .option('--profile <name>', 'the login to use; by default MUSTER_PROFILE, then the last one');
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/**
 * Returns the address in MUSTER_BASE_URL. If a login is selected by name, returns undefined, because the
 * login has its own address.
 */
function baseUrlFromEnvironment(profile: string | undefined): string | undefined {
  const address = profile === undefined ? nonEmpty(process.env['MUSTER_BASE_URL']) : undefined;
  if (address !== undefined && !isHttpUrl(address))
    throw new UsageError('MUSTER_BASE_URL is not a valid address');
  return address;
}

/**
 * Returns the selected login, or undefined if there is none. Throws UsageError if a named login does not
 * exist.
 */
async function findLogin(profileName: string | undefined): Promise<CommandConnection | undefined> {
  const { current, profiles } = await readProfiles();
  const name = profileName ?? current;
  if (name === null) return undefined;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined && profileName !== undefined)
    throw new UsageError(
      `there is no login "${profileName}"; create it with muster login --profile ${profileName}`,
    );
  if (profile === undefined) return undefined;
  const { baseUrl, token, oauth } = profile;
  const from = `the login "${name}"`;
  return {
    baseUrl,
    token,
    tokenSource: from,
    ...(oauth && { renewingLogin: name, fetch: createRenewingFetch(name, profile) }),
  };
}

async function findLocalInstance(): Promise<CommandConnection | undefined> {
  const { instance = null } = (await askParentProcess('connection')) ?? {};
  return instance === null ? undefined : { ...instance, tokenSource: 'the instance that runs here' };
}

/**
 * Finds the connection: flags first, then the environment, the login, and the instance that runs here.
 * A stored token is sent only to the address it was stored for. An address on the command line never gets the
 * token of another address.
 */
export async function findConnection({
  baseUrl,
  token,
  profile,
}: ConnectionFlags): Promise<CommandConnection> {
  const address = baseUrl ?? baseUrlFromEnvironment(profile);
  const secret = token ?? (profile === undefined ? nonEmpty(process.env['MUSTER_TOKEN']) : undefined);
  if (address !== undefined && secret !== undefined)
    return { baseUrl: address, token: secret, tokenSource: 'flags or the environment' };
  const kept =
    (await findLogin(profile ?? nonEmpty(process.env['MUSTER_PROFILE']))) ?? (await findLocalInstance());
  if (kept === undefined)
    throw new UsageError(
      address === undefined
        ? 'no API address is given: sign in with muster login, or set MUSTER_BASE_URL and MUSTER_TOKEN (npm run muster uses the instance started by npm start)'
        : `no token is given: sign in with muster login ${address}, or set MUSTER_TOKEN`,
    );
  if (address !== undefined && originOf(address) !== originOf(kept.baseUrl))
    throw new UsageError(
      `the saved token is for ${kept.baseUrl}, not for ${address}; give --token or MUSTER_TOKEN too`,
    );
  return secret === undefined
    ? kept
    : { baseUrl: kept.baseUrl, token: secret, tokenSource: kept.tokenSource };
}

/** Returns only the address, for commands that need no token. */
export async function resolveBaseUrl(flags: ConnectionFlags): Promise<string> {
  return flags.baseUrl ?? baseUrlFromEnvironment(flags.profile) ?? (await findConnection(flags)).baseUrl;
}

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined);
