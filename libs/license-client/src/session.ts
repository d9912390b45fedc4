/** The state of one call of the client: the stored license and the trusted keys. */
import { ask, type Asking, type Call, type ServiceReply, type NotHeard, send } from './asking.ts';
import { type CachedLicense, readKept, writtenAt } from './cache.ts';
import { type KeyRing, ringOf } from './key-ring.ts';
import { machineIdOf } from './machine-id.ts';
import { type Settings } from './options.ts';
import { type PublicKey, publicKeysIn } from './public-key.ts';

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
  readonly ask: (call: Call) => Promise<ServiceReply | NotHeard>;
}

const keysTarget = '/.well-known/license-keys.json';

async function fetchKeys(base: URL, product: string | undefined): Promise<PublicKey[]> {
  const target = product === undefined ? keysTarget : `${keysTarget}?product=${product}`;
  const answer = await send(base, { method: 'GET', target }, {});
  const document = JSON.parse(answer.body.toString()) as { keys?: unknown } | null;
  return answer.status === 200 ? publicKeysIn(document?.keys) : [];
}

export async function openSession({
  base,
  folder,
  pinned,
  patienceMillis,
  ...own
}: Settings): Promise<LicenseSession> {
  const kept = await readKept(folder);
  const writtenMillis = await writtenAt(folder);
  const machineId = own.machineId ?? (await machineIdOf({ product: own.product, folder }));
  let keys = pinned ?? kept?.publicKeys ?? [];
  const asking: Asking = {
    ...{ base, patienceMillis, serviceProduct: own.serviceProduct },
    // A key ID that is not known yet belongs to a new key or to a forged one. The client fetches the keys
    // unless they are pinned.
    ringFor: async (kid) => {
      if (pinned === undefined && !keys.some((one) => one.kid === kid)) {
        const fetched = await fetchKeys(base, own.serviceProduct);
        // An empty answer does not replace the known keys, because certificates that they signed are still in
        // use.
        if (fetched.length > 0) keys = fetched;
      }
      return ringOf(keys);
    },
  };
  return {
    ...{ folder, kept, writtenMillis, machineId },
    publicKeys: () => (pinned === undefined ? keys : []),
    ring: () => ringOf(keys),
    ask: (call) => ask(asking, call),
  };
}

/** The length of a key without its prefix, which users may leave out. */
const keySymbols = 25;

/** Returns true if two texts are the same key, read as leniently as the service does. */
export const sameKey = (one: string | null, other: string): boolean => {
  const bare = (key: string): string =>
    key
      .replace(/[^0-9a-z]/gi, '')
      .toUpperCase()
      .replace(/O/g, '0')
      .replace(/[IL]/g, '1')
      .slice(-keySymbols);
  return one !== null && bare(one) === bare(other);
};
