/** What the service keeps of a machine: a keyed hash, from which its id cannot be found. */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export const longestMachineId = 256;

/** Why a text is no machine's id; undefined where it is one. */
export function machineIdProblem(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty';
  if (Buffer.byteLength(text) > longestMachineId) return `must be at most ${longestMachineId} bytes long`;
  return /\p{Cc}/u.test(text) ? 'must not have control characters' : undefined;
}

export interface MachineHasher {
  /** By the pepper of now. */
  readonly pepperId: string;
  /** By all peppers that are accepted, that of now first. */
  readonly pepperIds: readonly string[];
  /** The hash by the pepper of now, and by the one before where there is one. */
  hashes(machineId: string): readonly [Buffer, Buffer | null];
}

const hmac = (pepper: KeyObject, text: string): Buffer => createHmac('sha256', pepper).update(text).digest();

/** Made once: Node takes four times as long for an HMAC whose key it must make first. */
const toSecretKey = (pepper: string | Buffer): KeyObject => createSecretKey(Buffer.from(pepper));

/** Names a pepper without showing it, so that it can be seen which machines still hang on an old one. */
const idOf = (pepper: KeyObject): string =>
  hmac(pepper, 'muster license-service pepper').toString('hex').slice(0, 8);

export function createMachineHasher(pepper: string | Buffer, before: string | Buffer | null): MachineHasher {
  const [now, former] = [toSecretKey(pepper), before === null ? null : toSecretKey(before)];
  const pepperId = idOf(now);
  return {
    pepperId,
    pepperIds: former === null ? [pepperId] : [pepperId, idOf(former)],
    hashes: (machineId) => [hmac(now, machineId), former === null ? null : hmac(former, machineId)],
  };
}

/** The end of a long id, for people who compare; nothing of a short one. */
export const hintOfMachine = (machineId: string): string =>
  machineId.length >= 12 ? `…${machineId.slice(-4)}` : '…';

/** How a certificate names its machine: only a program that has the id can see that it is meant. */
export const machineMark = (machineId: string): string => hash('sha256', machineId, 'base64url');
