/** The state of one call of the client: the stored license and the trusted keys. */
import {
  callWithRetries,
  type ServiceCallSettings,
  type ServiceCall,
  type ServiceReply,
  type NoReply,
  sendRequest,
} from './asking.ts';
import { type CachedLicense, readCachedLicense, lastWriteMillis } from './cache.ts';
import { type KeyRing, createKeyRing } from './key-ring.ts';
import { machineIdOf } from './machine-id.ts';
import { type LicenseClientSettings } from './options.ts';
import { type PublicKey, parsePublicKeys } from './public-key.ts';

export interface LicenseSession {
  /** The folder in which the client stores its state. */
  readonly folder: string;
  readonly kept: CachedLicense | undefined;
  /** The time at which the stored state was last written, by the clock of this machine. */
  readonly writtenMillis: number;
  readonly machineId: string;
  /** Returns the keys to store: none if the keys are pinned. */
  readonly publicKeys: () => readonly PublicKey[];
  readonly ring: () => KeyRing;
  readonly callService: (call: ServiceCall) => Promise<ServiceReply | NoReply>;
}

const publicKeysPath = '/.well-known/license-keys.json';

async function fetchPublicKeys(base: URL, product: string | undefined): Promise<PublicKey[]> {
  const target = product === undefined ? publicKeysPath : `${publicKeysPath}?product=${product}`;
  const answer = await sendRequest(base, { method: 'GET', target }, {});
  const document = JSON.parse(answer.body.toString()) as { keys?: unknown } | null;
  return answer.status === 200 ? parsePublicKeys(document?.keys) : [];
}

export async function openSession({
  base,
  folder,
  pinnedKeys,
  patienceMillis,
  ...own
}: LicenseClientSettings): Promise<LicenseSession> {
  const cachedLicense = await readCachedLicense(folder);
  const writtenMillis = await lastWriteMillis(folder);
  const machineId = own.machineId ?? (await machineIdOf({ product: own.product, folder }));
  let keys = pinnedKeys ?? cachedLicense?.publicKeys ?? [];
  const asking: ServiceCallSettings = {
    ...{ base, patienceMillis, serviceProduct: own.serviceProduct },
    // A key ID that is not known yet belongs to a new key or to a forged one. The client fetches the keys
    // unless they are pinned.
    keyRingFor: async (kid) => {
      if (pinnedKeys === undefined && !keys.some((one) => one.kid === kid)) {
        const fetched = await fetchPublicKeys(base, own.serviceProduct);
        // An empty answer does not replace the known keys, because certificates that they signed are still in
        // use.
        if (fetched.length > 0) keys = fetched;
      }
      return createKeyRing(keys);
    },
  };
  return {
    ...{ folder, kept: cachedLicense, writtenMillis, machineId },
    publicKeys: () => (pinnedKeys === undefined ? keys : []),
    ring: () => createKeyRing(keys),
    callService: (call) => callWithRetries(asking, call),
  };
}

/** The length of a key without its prefix, which users may leave out. */
const keySymbolCount = 25;

/** Returns true if two texts are the same key, read as leniently as the service does. */
export const isSameKey = (firstKey: string | null, secondKey: string): boolean => {
  const bare = (key: string): string =>
    key
      .replace(/[^0-9a-z]/gi, '')
      .toUpperCase()
      .replace(/O/g, '0')
      .replace(/[IL]/g, '1')
      .slice(-keySymbolCount);
  return firstKey !== null && bare(firstKey) === bare(secondKey);
};
