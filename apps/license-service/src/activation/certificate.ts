/** Signs license certificates. Each activation gets one, and operators can create others. */
import { type LicenseFeatures } from '../features.ts';
import { defaultProduct } from '../operators/products.ts';
import { signCertificate } from '../signing/certificate.ts';
import { type Signer } from '../signing/signing-key.ts';
import { machineFingerprint } from './machine.ts';
import { type GrantedActivation } from './statements.ts';

export interface CertifiedLicense {
  readonly id: string;
  readonly product: string;
  readonly plan: string;
  readonly features: LicenseFeatures;
  readonly leaseSeconds: number | null;
}

/** The start and the end of a certificate's validity, in seconds since 1970. */
export interface CertificateValidity {
  readonly iat: number;
  readonly exp: number;
}

export const signLicenseCertificate = (
  { id, product, plan, features, leaseSeconds }: CertifiedLicense,
  machineId: string,
  { iat, exp }: CertificateValidity,
  { kid, key }: Pick<Signer, 'kid' | 'key'>,
): string =>
  signCertificate(key, {
    ...{ lic: id, plan, features, machine: machineFingerprint(machineId), iat, exp, kid },
    ...(leaseSeconds !== null && { lease: leaseSeconds }),
    ...(product !== defaultProduct && { product }),
  });

export function signActivationCertificate(
  { features, issuedAt: iat, certifiedUntil: exp, ...granted }: GrantedActivation,
  product: string,
  machineId: string,
  signer: Signer,
): string {
  if (features === null || iat === null || exp === null)
    throw new Error('an activation without what it grants');
  return signLicenseCertificate({ ...granted, product, features }, machineId, { iat, exp }, signer);
}
