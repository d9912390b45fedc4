/** Hashes machine IDs. The service stores only a keyed hash, which does not reveal the ID. */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export const maxMachineIdBytes = 256;

/** Returns why a text is not a valid machine ID; undefined if it is valid. */
export function machineIdProblem(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty';
  if (Buffer.byteLength(text) > maxMachineIdBytes) return `must be at most ${maxMachineIdBytes} bytes long`;
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

const hmacSha256 = (pepper: KeyObject, text: string): Buffer =>
  createHmac('sha256', pepper).update(text).digest();

/** Creates the key object once. An HMAC whose key Node must create first takes four times as long. */
const toSecretKey = (pepper: string | Buffer): KeyObject => createSecretKey(Buffer.from(pepper));

/** Derives an ID of a pepper that does not reveal it. Statistics use it to count machines per pepper. */
const pepperIdOf = (pepper: KeyObject): string =>
  hmacSha256(pepper, 'muster license-service pepper').toString('hex').slice(0, 8);

export function createMachineHasher(
  pepper: string | Buffer,
  previousPepper: string | Buffer | null,
): MachineHasher {
  const [now, former] = [toSecretKey(pepper), previousPepper === null ? null : toSecretKey(previousPepper)];
  const pepperId = pepperIdOf(now);
  return {
    pepperId,
    pepperIds: former === null ? [pepperId] : [pepperId, pepperIdOf(former)],
    hashes: (machineId) => [
      hmacSha256(now, machineId),
      former === null ? null : hmacSha256(former, machineId),
    ],
  };
}

/**
 * Returns the last four characters of a long machine ID, so that people can compare machines. A short ID is
 * hidden entirely.
 */
export const machineHintOf = (machineId: string): string =>
  machineId.length >= 12 ? `…${machineId.slice(-4)}` : '…';

/** Returns the mark of a machine in certificates. Only a program that knows the machine ID can match it. */
export const machineFingerprint = (machineId: string): string => hash('sha256', machineId, 'base64url');
