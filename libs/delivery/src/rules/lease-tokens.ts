/**
 * Lease tokens: `lse_<epoch>_` and 32 base-62 characters (190 bits). The epoch shows holders which grant the
 * token is of. Only the SHA-256 hash in the lease's row decides about validity.
 */
import { createHash, randomInt } from 'node:crypto';

const tokenAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenPattern = /^lse_([1-9][0-9]{0,9})_[0-9A-Za-z]{32}$/;

/** Creates a token for a grant. It is returned once and never stored. */
export const newLeaseToken = (epoch: number): string =>
  `lse_${epoch}_${Array.from({ length: 32 }, () => tokenAlphabet[randomInt(62)] ?? '').join('')}`;

/** The claim of a token. A token with a malformed text claims epoch 0, which no grant has. */
export interface LeaseClaim {
  readonly epoch: number;
  readonly tokenHash: Buffer;
}

export const hashLeaseToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export function parseLeaseToken(token: string): LeaseClaim {
  const epoch = Number(tokenPattern.exec(token)?.[1] ?? 0);
  return { epoch: epoch > 2_147_483_647 ? 0 : epoch, tokenHash: hashLeaseToken(token) };
}
