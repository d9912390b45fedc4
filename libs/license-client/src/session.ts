/** One question's worth of work: what is kept, and the keys that are trusted meanwhile. */
import { ask, type Asking, type Call, type Heard, type NotHeard, send } from './asking.ts';
import { type Kept, readKept, writtenAt } from './cache.ts';
import { type KeyRing, ringOf } from './key-ring.ts';
import { machineIdOf } from './machine-id.ts';
import { type Settings } from './options.ts';
import { type PublicKey, publicKeysIn } from './public-key.ts';

export interface Session {
  /** Where it is kept. */
  readonly folder: string;
  readonly kept: Kept | undefined;
  /** By the clock of this machine. */
  readonly writtenMillis: number;
  readonly machineId: string;
  /** Those to keep; none where they are pinned. */
  readonly publicKeys: () => readonly PublicKey[];
  readonly ring: () => KeyRing;
  readonly ask: (call: Call) => Promise<Heard | NotHeard>;
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
}: Settings): Promise<Session> {
  const kept = await readKept(folder);
  const writtenMillis = await writtenAt(folder);
  const machineId = own.machineId ?? (await machineIdOf({ product: own.product, folder }));
  let keys = pinned ?? kept?.publicKeys ?? [];
  const asking: Asking = {
    ...{ base, patienceMillis, serviceProduct: own.serviceProduct },
    // A key that is not known is a new one, or none at all; where keys are pinned it is none.
    ringFor: async (kid) => {
      if (pinned === undefined && !keys.some((one) => one.kid === kid)) {
        const fetched = await fetchKeys(base, own.serviceProduct);
        // Certificates by older ones are still about.
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

/** Of a key without its prefix, which need not be typed. */
const keySymbols = 25;

/** Whether two texts are one key, read as leniently as the service reads it. */
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
