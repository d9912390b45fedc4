/** Certificates by hand, for machines that never come online. */
import { licenseCertificate } from '../activation/certificate.ts';
import { type MachineHasher } from '../activation/machine.ts';
import { type Keys } from '../signing/signing-key.ts';
import { note } from './change.ts';
import { type LicenseRef, lockLicense } from './license.ts';
import { slotOf } from './machines.ts';
import { type Ask, Refused } from './transaction.ts';

export interface Certification {
  readonly machineId: string;
  readonly hasher: MachineHasher;
  /** Of each product. */
  readonly keys: ReadonlyMap<string, Keys>;
  readonly seconds: number;
}

/** For the machine that has the license; it must be one that may run now. The row says until when it may. */
export async function certify(
  ask: Ask,
  ref: LicenseRef,
  { machineId, hasher, keys, seconds }: Certification,
): Promise<{ certificate: string; expiresAt: string }> {
  const license = await lockLicense(ask, ref);
  if (license.status !== 'active' || license.isExpired) {
    throw new Refused('not_valid', 'this license may not run now');
  }
  const signer = keys.get(license.product)?.signer;
  if (signer === undefined)
    throw new Refused('no_signing_key', 'there is no key to sign with (license doctor)');
  const slot = await slotOf(ask, license.id, hasher.hashes(machineId));
  if (slot === undefined) throw new Refused('other_machine', 'this machine does not have the license');
  const [row] = await ask<{ iat: number; exp: number; expiresAt: string }>(
    `with span as (
       select date_trunc('second', clock_timestamp()) as began,
         date_trunc('second', least(clock_timestamp() + make_interval(secs => $3::float8), expires_at)) as ends
       from licenses.licenses where id = $1),
     machine as (
       update licenses.license_machines m set offline_until = greatest(m.offline_until, span.ends)
       from span where m.license_id = $1 and m.slot = $2)
     update licenses.licenses l set offline_until = greatest(l.offline_until, span.ends), updated_at = clock_timestamp()
     from span where l.id = $1
     returning extract(epoch from span.began)::float8 as iat, extract(epoch from span.ends)::float8 as exp,
       span.ends as "expiresAt"`,
    [license.id, slot, seconds],
  );
  if (row === undefined) throw new Error('a license that was locked is not there');
  await note(ask, license, 'certified', { expiresAt: row.expiresAt });
  return {
    certificate: licenseCertificate(license, machineId, row, signer),
    expiresAt: row.expiresAt,
  };
}
