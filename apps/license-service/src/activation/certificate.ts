/** The certificate that goes with an activation. */
import { usualProduct } from '../operators/products.ts';
import { signCertificate } from '../signing/certificate.ts';
import { type Signer } from '../signing/signing-key.ts';
import { machineMark } from './machine.ts';
import { type Granted } from './statements.ts';

export function certificateOf(
  { id, plan, features, issuedAt, certifiedUntil, leaseSeconds }: Granted,
  product: string,
  machineId: string,
  { kid, key }: Signer,
): string {
  if (features === null || issuedAt === null || certifiedUntil === null)
    throw new Error('an activation without what it grants');
  return signCertificate(key, {
    ...{ lic: id, plan, features, machine: machineMark(machineId) },
    ...{ iat: issuedAt, exp: certifiedUntil, kid },
    ...(leaseSeconds !== null && { lease: leaseSeconds }),
    ...(product !== usualProduct && { product }),
  });
}
