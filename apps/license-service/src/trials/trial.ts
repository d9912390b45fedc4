/** Trials: a program may run for some days without a key, once per machine. */
import { newId, type Pool, sql } from '@muster/driver';
import { type ApiError, forbidden, notFoundWithReason } from '@muster/http';
import { runQuery } from '../database.ts';
import { type LicenseFeatures } from '../features.ts';
import { type MachineHasher, machineFingerprint } from '../activation/machine.ts';
import { defaultProduct } from '../operators/products.ts';
import { signCertificate } from '../signing/certificate.ts';
import { type Signer } from '../signing/signing-key.ts';

export interface Trial {
  readonly id: string;
  /** True if the trial started with this call. */
  readonly isNew: boolean;
  readonly features: LicenseFeatures;
  readonly now: string;
  readonly startedAt: string;
  readonly endsAt: string;
  /** The time at which a license key was activated on the machine; null if no key was activated there. */
  readonly convertedAt: string | null;
}

/** Returns the trial of a machine and starts it if there is none; undefined if the product has no trials. */
export async function findOrStartTrial(
  pool: Pool,
  { product, hasher, machineId }: { product: string; hasher: MachineHasher; machineId: string },
): Promise<Trial | undefined> {
  const [current, previous] = hasher.hashes(machineId);
  const [row] = await runQuery(
    pool,
    sql<Trial>`select id, is_new as "isNew", features, now, started_at as "startedAt", ends_at as "endsAt",
        converted_at as "convertedAt"
      from licenses.trial_of(${newId()}, ${product}, ${current}, ${previous}, ${hasher.pepperId})`,
  );
  return row;
}

export const noTrialsError = (): ApiError => notFoundWithReason('no_trials');

/** Returns the refusal of a trial that is over; undefined if it still runs. */
export function endedTrialError({ convertedAt, now, endsAt }: Trial): ApiError | undefined {
  if (convertedAt !== null) return forbidden('trial_converted');
  return Date.parse(now) >= Date.parse(endsAt) ? forbidden('trial_ended') : undefined;
}

const unixSecondsOf = (time: string): number => Math.floor(Date.parse(time) / 1_000);

/** Signs a certificate that is valid until the end of the trial, so it never needs renewal. */
export const signTrialCertificate = (
  { id, features, now, endsAt }: Trial,
  product: string,
  machineId: string,
  { kid, key }: Signer,
): string =>
  signCertificate(
    key,
    {
      ...{ lic: id, plan: 'trial', features, machine: machineFingerprint(machineId) },
      ...{ iat: unixSecondsOf(now), exp: unixSecondsOf(endsAt), kid },
      ...(product !== defaultProduct && { product }),
    },
    'trial1',
  );
