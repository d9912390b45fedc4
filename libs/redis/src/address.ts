/** Parses REDIS_URL, which names one server, a cluster, or a group with sentinels. */

export interface Host {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

interface MultiHostAddress extends Credentials {
  /** The hosts in the given order. Any of them leads to the others. */
  readonly hosts: readonly Host[];
  readonly tls: boolean;
}

export interface SingleServerAddress {
  readonly kind: 'server';
  readonly url: string;
}

export interface ClusterAddress extends MultiHostAddress {
  readonly kind: 'cluster';
}

export interface SentinelAddress extends MultiHostAddress {
  readonly kind: 'sentinel';
  /** The name of the group in the sentinels. */
  readonly name: string;
  readonly db: number;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
}

export type RedisAddress = SingleServerAddress | ClusterAddress | SentinelAddress;

const redisPort = 6379;
const sentinelPort = 26_379;

/** The parts of the address: scheme, kind, credentials, hosts, path and query. */
const addressPattern =
  /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

/**
 * Parses an address of Redis.
 * - `redis://user:password@host:6379/0` is one server.
 * - Several hosts separated by commas, or `redis+cluster://` with one host, are a cluster.
 * - `redis+sentinel://host:26379,host:26379/name/0` is a group with sentinels.
 * `rediss` uses TLS for each host. Ports are optional. Throws an Error that describes the problem without
 * repeating the address, which has a password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const parts = addressPattern.exec(text);
  if (parts === null)
    throw new Error(
      'is not a Redis address such as redis://host:6379, redis://host:6379,host:6379 or redis+sentinel://host:26379,host:26379/name',
    );
  const [, scheme, kind, login, hostList = '', path = '', query = ''] = parts;
  const names = hostList.split(',');
  if (kind === undefined && names.length === 1) {
    if (!URL.canParse(text))
      throw new Error('is not a valid Redis address: the host, port or password is malformed');
    return { kind: 'server', url: text };
  }
  const several = {
    hosts: names.map((name) => parseHost(name, kind === 'sentinel' ? sentinelPort : redisPort)),
    tls: scheme === 'rediss',
    ...parseCredentials(login),
  };
  if (kind !== 'sentinel') {
    if (path !== '' && path !== '0')
      throw new Error('names a database, but a cluster has only the first one');
    if (query !== '') throw new Error('has a query, which is not supported for a cluster');
    return { kind: 'cluster', ...several };
  }
  const [name = '', db = '0', ...more] = path.split('/').map(decodePart);
  if (name === '') throw new Error('must name the Sentinel group: redis+sentinel://host:26379/name');
  if (!/^\d{1,5}$/.test(db) || more.length > 0)
    throw new Error('must have only a name and a database after the hosts');
  return { kind: 'sentinel', ...several, name, db: Number(db), ...parseSentinelLogin(query) };
}

function parseHost(text: string, defaultPort: number): Host {
  const [, inBrackets, plain, port] =
    /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/i.exec(text.trim()) ?? [];
  const host = inBrackets ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw new Error('has a host that is not written as host or host:port');
  return { host, port: number };
}

function parseCredentials(login: string | undefined): Credentials {
  if (login === undefined || login === '') return {};
  const colon = login.indexOf(':');
  const username = decodePart(colon === -1 ? login : login.slice(0, colon));
  const password = colon === -1 ? '' : decodePart(login.slice(colon + 1));
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function parseSentinelLogin(query: string): Pick<SentinelAddress, 'sentinelUsername' | 'sentinelPassword'> {
  const login: { sentinelUsername?: string; sentinelPassword?: string } = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== 'sentinelUsername' && name !== 'sentinelPassword')
      throw new Error('has query parameters other than sentinelUsername and sentinelPassword');
    login[name] = value;
  }
  return login;
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('has a % that does not start an encoded character');
  }
}
