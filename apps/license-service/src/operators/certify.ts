/** Creates certificates for offline machines on request of an operator. */
import { sql } from '@muster/driver';
import { signLicenseCertificate } from '../activation/certificate.ts';
import { type MachineHasher } from '../activation/machine.ts';
import { type ProductSigningKeys } from '../signing/signing-key.ts';
import { recordEvent } from './change.ts';
import { type LicenseRef, lockLicense } from './license.ts';
import { findMachineSlot } from './machines.ts';
import { type Db, RefusedError } from './transaction.ts';

export interface CertificationOptions {
  readonly machineId: string;
  readonly hasher: MachineHasher;
  /** The signing keys of each product, by its name. */
  readonly signingKeysByProduct: ReadonlyMap<string, ProductSigningKeys>;
  readonly validSeconds: number;
}

/** Certifies a machine that holds a valid license, and stores until when it may run offline. */
export async function certifyMachine(
  db: Db,
  ref: LicenseRef,
  { machineId, hasher, signingKeysByProduct, validSeconds }: CertificationOptions,
): Promise<{ certificate: string; expiresAt: string }> {
  const license = await lockLicense(db, ref);
  if (license.status !== 'active' || license.isExpired)
    throw new RefusedError('not_valid', 'this license is not valid now');
  const signer = signingKeysByProduct.get(license.product)?.signer;
  if (signer === undefined)
    throw new RefusedError('no_signing_key', 'there is no usable signing key (run license doctor)');
  const slot = await findMachineSlot(db, license.id, hasher.hashes(machineId));
  if (slot === undefined) throw new RefusedError('other_machine', 'this machine does not hold the license');
  const row = await db.one(sql<{ iat: number; exp: number; expiresAt: string }>`with span as (
       select date_trunc('second', clock_timestamp()) as began,
         date_trunc('second', least(clock_timestamp() + make_interval(secs => ${validSeconds}::float8), expires_at)) as ends
       from licenses.licenses where id = ${license.id}),
     machine as (
       update licenses.license_machines m set offline_until = greatest(m.offline_until, span.ends)
       from span where m.license_id = ${license.id} and m.slot = ${slot})
     update licenses.licenses l set offline_until = greatest(l.offline_until, span.ends), updated_at = clock_timestamp()
     from span where l.id = ${license.id}
     returning extract(epoch from span.began)::float8 as iat, extract(epoch from span.ends)::float8 as exp,
       span.ends as "expiresAt"`);
  await recordEvent(db, license, 'certified', { expiresAt: row.expiresAt });
  return {
    certificate: signLicenseCertificate(license, machineId, row, signer),
    expiresAt: row.expiresAt,
  };
}
