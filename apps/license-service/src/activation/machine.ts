/** Hashes machine IDs. The service stores only a keyed hash, which does not reveal the ID. */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export const longestMachineId = 256;

/** Returns why a text is not a valid machine ID; undefined if it is valid. */
export function machineIdProblem(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty';
  if (Buffer.byteLength(text) > longestMachineId) return `must be at most ${longestMachineId} bytes long`;
  return /\p{Cc}/u.test(text) ? 'must not have control characters' : undefined;
}

export interface MachineHasher {
  /** The ID of the current pepper. */
  readonly pepperId: string;
  /** The IDs of all accepted peppers, the current one first. */
  readonly pepperIds: readonly string[];
  /** Hashes a machine ID with the current pepper and, if there is one, with the previous pepper. */
  hashes(machineId: string): readonly [Buffer, Buffer | null];
}

const hmac = (pepper: KeyObject, text: string): Buffer => createHmac('sha256', pepper).update(text).digest();

/** Creates the key object once. An HMAC whose key Node must create first takes four times as long. */
const toSecretKey = (pepper: string | Buffer): KeyObject => createSecretKey(Buffer.from(pepper));

/** Derives an ID of a pepper that does not reveal it. Statistics use it to count machines per pepper. */
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

/** Returns the last four characters of a long machine ID, for people who compare. A short ID is hidden entirely. */
export const hintOfMachine = (machineId: string): string =>
  machineId.length >= 12 ? `…${machineId.slice(-4)}` : '…';

/** Returns the mark of a machine in certificates. Only a program that knows the machine ID can match it. */
export const machineMark = (machineId: string): string => hash('sha256', machineId, 'base64url');
