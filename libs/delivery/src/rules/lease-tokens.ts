/**
 * Lease tokens: `lse_<epoch>_` and 32 base-62 symbols (190 bits). The epoch is told so that a holder can see which grant
 * its token is of; what counts is the SHA-256 that the lease's row has.
 */
import { createHash, randomInt } from 'node:crypto';

const symbols = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^lse_([1-9][0-9]{0,9})_[0-9A-Za-z]{32}$/;

/** A fresh token of a grant; shown once and never stored. */
export const newLeaseToken = (epoch: number): string =>
  `lse_${epoch}_${Array.from({ length: 32 }, () => symbols[randomInt(62)] ?? '').join('')}`;

/** What a token claims. One that is made up claims an epoch that is never granted. */
export interface LeaseClaim {
  readonly epoch: number;
  readonly tokenHash: Buffer;
}

export const hashLeaseToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export function claimOf(token: string): LeaseClaim {
  const epoch = Number(shape.exec(token)?.[1] ?? 0);
  return { epoch: epoch > 2_147_483_647 ? 0 : epoch, tokenHash: hashLeaseToken(token) };
}
