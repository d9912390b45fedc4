/** The options of a program, validated once. */
import { homedir } from 'node:os';
import path from 'node:path';
import { type PublicKey, parsePublicKeys } from './public-key.ts';

export interface LicenseClientOptions {
  /** The address of the license service: `https://licenses.example.com`. */
  readonly url: string;
  /**
   * The product's name. It is part of the machine's id, so do not change it: with another name every machine
   * counts as new.
   */
  readonly product: string;
  /**
   * The product within a service that sells several. Keys and certificates of other products are rejected.
   */
  readonly serviceProduct?: string;
  /** The folder of the license. The default is the user's folder for state of programs. */
  readonly folder?: string;
  /**
   * The service's keys from /.well-known/license-keys.json, built into the program. By default they are
   * fetched and stored.
   */
  readonly publicKeys?: readonly PublicKey[];
  /** The time in seconds during which calls are retried while the service does not answer. The default is 10. */
  readonly patienceSeconds?: number;
  /**
   * The id of the license holder if that is not this machine, such as a device or an account. It replaces the
   * machine's own id.
   */
  readonly machineId?: string;
}

const defaultPatienceSeconds = 10;

const isLocalhostUrl = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

function parseBaseUrl(url: string, hasPinnedKeys: boolean): URL {
  const base = new URL(url);
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('url must be an http or https URL');
  if (base.protocol === 'http:' && !isLocalhostUrl(base) && !hasPinnedKeys)
    throw new TypeError(
      'url must be an https URL unless publicKeys are given, because plain http responses can be forged',
    );
  // The client needs the host alone: a proxy below a path would change the path and query that the signature
  // covers.
  if (base.pathname !== '/' || base.search !== '') throw new TypeError('url must have a host and no path');
  return base;
}

/** Returns the user's folder for state of programs, by the conventions of each system. */
function defaultStateFolder(product: string): string {
  const { LOCALAPPDATA: local, XDG_STATE_HOME: state } = process.env;
  switch (process.platform) {
    case 'win32':
      return path.join(local || path.join(homedir(), 'AppData', 'Local'), product);
    case 'darwin':
      return path.join(homedir(), 'Library', 'Application Support', product);
    default:
      return path.join(state || path.join(homedir(), '.local', 'state'), product);
  }
}

export interface LicenseClientSettings {
  readonly base: URL;
  readonly product: string;
  readonly serviceProduct: string | undefined;
  readonly folder: string;
  /** The pinned keys. Undefined if the client fetches the keys. */
  readonly pinnedKeys: readonly PublicKey[] | undefined;
  readonly patienceMillis: number;
  readonly machineId: string | undefined;
}

/** Validates the options. Throws TypeError for invalid ones. */
export function settingsOf(options: LicenseClientOptions): LicenseClientSettings {
  const { url, product, serviceProduct, folder, publicKeys, machineId } = options;
  const { patienceSeconds = defaultPatienceSeconds } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(product))
    throw new TypeError('product must consist of letters, digits and the characters . _ -');
  if (serviceProduct !== undefined && !/^[a-z0-9][a-z0-9._-]{0,63}$/.test(serviceProduct))
    throw new TypeError(
      'serviceProduct must be the name of a product at the service: lower-case letters, digits and . _ -',
    );
  const pinned = publicKeys && parsePublicKeys(publicKeys);
  if (pinned !== undefined && (pinned.length === 0 || pinned.length !== publicKeys?.length))
    throw new TypeError('publicKeys must be Ed25519 keys in the format of /.well-known/license-keys.json');
  if (!(patienceSeconds >= 0)) throw new TypeError('patienceSeconds must be a number of seconds');
  return {
    base: parseBaseUrl(url, pinned !== undefined),
    product,
    serviceProduct,
    folder: folder ?? defaultStateFolder(product),
    pinnedKeys: pinned,
    patienceMillis: patienceSeconds * 1_000,
    machineId,
  };
}
