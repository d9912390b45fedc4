/** Signs license certificates. Each activation gets one, and operators can create others. */
import { type LicenseFeatures } from '../features.ts';
import { usualProduct } from '../operators/products.ts';
import { signCertificate } from '../signing/certificate.ts';
import { type Signer } from '../signing/signing-key.ts';
import { machineMark } from './machine.ts';
import { type GrantedActivation } from './statements.ts';

export interface Certified {
  readonly id: string;
  readonly product: string;
  readonly plan: string;
  readonly features: LicenseFeatures;
  readonly leaseSeconds: number | null;
}

/** The start and the end of a certificate's validity, in seconds since 1970. */
export interface Lifetime {
  readonly iat: number;
  readonly exp: number;
}

export const licenseCertificate = (
  { id, product, plan, features, leaseSeconds }: Certified,
  machineId: string,
  { iat, exp }: Lifetime,
  { kid, key }: Pick<Signer, 'kid' | 'key'>,
): string =>
  signCertificate(key, {
    ...{ lic: id, plan, features, machine: machineMark(machineId), iat, exp, kid },
    ...(leaseSeconds !== null && { lease: leaseSeconds }),
    ...(product !== usualProduct && { product }),
  });

export function certificateOf(
  { features, issuedAt: iat, certifiedUntil: exp, ...granted }: GrantedActivation,
  product: string,
  machineId: string,
  signer: Signer,
): string {
  if (features === null || iat === null || exp === null)
    throw new Error('an activation without what it grants');
  return licenseCertificate({ ...granted, product, features }, machineId, { iat, exp }, signer);
}
