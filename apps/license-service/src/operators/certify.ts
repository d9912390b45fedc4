/** Creates certificates for offline machines on request of an operator. */
import { sql } from '@muster/driver';
import { licenseCertificate } from '../activation/certificate.ts';
import { type MachineHasher } from '../activation/machine.ts';
import { type Keys } from '../signing/signing-key.ts';
import { note } from './change.ts';
import { type LicenseRef, lockLicense } from './license.ts';
import { slotOf } from './machines.ts';
import { type Db, Refused } from './transaction.ts';

export interface Certification {
  readonly machineId: string;
  readonly hasher: MachineHasher;
  /** The signing keys of each product, by its name. */
  readonly keys: ReadonlyMap<string, Keys>;
  readonly seconds: number;
}

/** Certifies a machine that holds a valid license, and stores until when it may run offline. */
export async function certify(
  db: Db,
  ref: LicenseRef,
  { machineId, hasher, keys, seconds }: Certification,
): Promise<{ certificate: string; expiresAt: string }> {
  const license = await lockLicense(db, ref);
  if (license.status !== 'active' || license.isExpired) {
    throw new Refused('not_valid', 'this license is not valid now');
  }
  const signer = keys.get(license.product)?.signer;
  if (signer === undefined)
    throw new Refused('no_signing_key', 'there is no usable signing key (run license doctor)');
  const slot = await slotOf(db, license.id, hasher.hashes(machineId));
  if (slot === undefined) throw new Refused('other_machine', 'this machine does not hold the license');
  const row = await db.one(sql<{ iat: number; exp: number; expiresAt: string }>`with span as (
       select date_trunc('second', clock_timestamp()) as began,
         date_trunc('second', least(clock_timestamp() + make_interval(secs => ${seconds}::float8), expires_at)) as ends
       from licenses.licenses where id = ${license.id}),
     machine as (
       update licenses.license_machines m set offline_until = greatest(m.offline_until, span.ends)
       from span where m.license_id = ${license.id} and m.slot = ${slot})
     update licenses.licenses l set offline_until = greatest(l.offline_until, span.ends), updated_at = clock_timestamp()
     from span where l.id = ${license.id}
     returning extract(epoch from span.began)::float8 as iat, extract(epoch from span.ends)::float8 as exp,
       span.ends as "expiresAt"`);
  await note(db, license, 'certified', { expiresAt: row.expiresAt });
  return {
    certificate: licenseCertificate(license, machineId, row, signer),
    expiresAt: row.expiresAt,
  };
}
