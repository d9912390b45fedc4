/** What an installer says about itself, checked once. */
import { homedir } from 'node:os';
import path from 'node:path';
import { type PublicKey, publicKeysIn } from './public-key.ts';

export interface LicenseClientOptions {
  /** Where the license service is: `https://licenses.example.com`. */
  readonly url: string;
  /** The product's name. It is part of the machine's id, so keep it: with another one every machine is a new one. */
  readonly product: string;
  /** Which of the service's products this is, where it sells several; keys and certificates of others count for nothing. */
  readonly serviceProduct?: string;
  /** Where the license is kept; the user's own place for state of programs unless told. */
  readonly folder?: string;
  /** The service's keys, of /.well-known/license-keys.json, built into the program. Fetched and kept unless told. */
  readonly publicKeys?: readonly PublicKey[];
  /** How long to try while the service does not answer; 10 unless told. */
  readonly patienceSeconds?: number;
  /** Instead of the machine's own id, where something else is to hold the license: a device, an account. */
  readonly machineId?: string;
}

const usualPatienceSeconds = 10;

const isHere = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

function baseOf(url: string, isPinned: boolean): URL {
  const base = new URL(url);
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('url must be of http or https');
  if (base.protocol === 'http:' && !isHere(base) && !isPinned) {
    throw new TypeError('url must be of https, unless publicKeys are given: anybody on the way could answer');
  }
  // Path and query of a question are signed as the service gets them, which a proxy below a path would change.
  if (base.pathname !== '/' || base.search !== '') throw new TypeError('url must name a host and no path');
  return base;
}

/** Where programs of a user keep what is theirs, by the customs of each system. */
function usualFolder(product: string): string {
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

export interface Settings {
  readonly base: URL;
  readonly product: string;
  readonly serviceProduct: string | undefined;
  readonly folder: string;
  /** Undefined: they are fetched. */
  readonly pinned: readonly PublicKey[] | undefined;
  readonly patienceMillis: number;
  readonly machineId: string | undefined;
}

/** Throws TypeError for what cannot be meant. */
export function settingsOf(options: LicenseClientOptions): Settings {
  const { url, product, serviceProduct, folder, publicKeys, machineId } = options;
  const { patienceSeconds = usualPatienceSeconds } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(product)) {
    throw new TypeError('product must be a name of letters, digits and . _ -');
  }
  if (serviceProduct !== undefined && !/^[a-z0-9][a-z0-9._-]{0,63}$/.test(serviceProduct)) {
    throw new TypeError('serviceProduct must be a product of the service: small letters, digits and . _ -');
  }
  const pinned = publicKeys && publicKeysIn(publicKeys);
  if (pinned !== undefined && (pinned.length === 0 || pinned.length !== publicKeys?.length)) {
    throw new TypeError('publicKeys must be Ed25519 keys as /.well-known/license-keys.json has them');
  }
  if (!(patienceSeconds >= 0)) throw new TypeError('patienceSeconds must be a number of seconds');
  return {
    base: baseOf(url, pinned !== undefined),
    product,
    serviceProduct,
    folder: folder ?? usualFolder(product),
    pinned,
    patienceMillis: patienceSeconds * 1_000,
    machineId,
  };
}
