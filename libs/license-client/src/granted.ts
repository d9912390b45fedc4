/**
 * Handles calls that the service may grant: activating, renewing or releasing a license on this machine, and
 * a trial without a key.
 */
import { type ServiceReply, type NoReply } from './asking.ts';
import { deleteStoredState, storeLicense } from './cache.ts';
import { type Certificate, isCertificateOfMachine, readCertificate } from './certificate.ts';
import { clockStateOfServer } from './clock.ts';
import { entitlementsOf } from './features.ts';
import {
  readStoredCertificate,
  invalidateLicense,
  type StoredLicense,
  isoTimeOf,
  decideWithoutReply,
} from './kept-license.ts';
import { refusalOfNoReply, refusalOfReply, stringFieldOf } from './refusals.ts';
import { isSameKey, type LicenseSession } from './session.ts';
import { type Allowed, type LicenseRefusal, type Release, type Standing } from './standing.ts';

/** Returns the license of an answer. Returns undefined unless it has this key and this machine. */
export function licenseOfReply(
  { body }: ServiceReply,
  expected: { readonly licenseKey: string; readonly machineId: string },
) {
  const license: object = body['license'] ?? {};
  const key = stringFieldOf(license, 'key');
  const isOwn =
    key !== null &&
    isSameKey(key, expected.licenseKey) &&
    stringFieldOf(license, 'machineId') === expected.machineId;
  return isOwn ? { ...license, key } : undefined;
}

export const untrustedReply: NoReply = { kind: 'untrusted', retryAfterSeconds: null };

/** Returns true if more than half of the certificate's life has passed. */
const isRenewalDue = ({ iat, exp }: Certificate, nowSeconds: number): boolean =>
  exp - nowSeconds < (exp - iat) / 2;

export async function requestActivation(
  session: LicenseSession,
  licenseKey: string,
): Promise<Standing | NoReply> {
  const { folder, machineId, ring, publicKeys, kept } = session;
  const heard = await session.callService({
    method: 'POST',
    target: '/api/activate',
    body: JSON.stringify({ licenseKey, machineId }),
  });
  if (heard.kind !== 'heard') return heard;
  if (heard.status !== 200) {
    if (kept !== undefined && isSameKey(kept.licenseKey, licenseKey)) await invalidateLicense(session, heard);
    return refusalOfReply(heard);
  }
  const license = licenseOfReply(heard, { licenseKey, machineId });
  const text = heard.header('license-certificate') ?? '';
  const certificate = readCertificate(text, ring());
  // A genuine answer to this call has a license, a certificate, and the ID of this machine. Any other answer
  // was made for another caller.
  if (license === undefined || certificate === undefined || !isCertificateOfMachine(certificate, machineId))
    return untrustedReply;
  await storeLicense(folder, {
    licenseKey: license.key,
    certificate: text,
    isLent: certificate.lease !== null,
    publicKeys: publicKeys(),
    time: clockStateOfServer(heard.serverSeconds),
  });
  return {
    ...{ mayRun: true, by: 'service', isTrial: false },
    ...{ plan: stringFieldOf(license, 'plan') ?? '', expiresAt: stringFieldOf(license, 'expiresAt') },
    offlineUntil: isoTimeOf(certificate.exp),
    offlineSeconds: certificate.exp - heard.serverSeconds,
    ...entitlementsOf(certificate.features),
  };
}

/** Updates the stored license after a positive answer, and its certificate if it is due. */
export async function updateStoredLicense(
  session: LicenseSession,
  storedLicense: StoredLicense,
  reply: ServiceReply,
): Promise<Standing> {
  const { folder, ring, machineId, publicKeys } = session;
  const certificate = readStoredCertificate(storedLicense, ring);
  const isGood = certificate !== undefined && isCertificateOfMachine(certificate, machineId);
  if (!isGood || isRenewalDue(certificate, reply.serverSeconds)) {
    const outcome = await requestActivation(session, storedLicense.licenseKey);
    if (!('kind' in outcome)) return outcome;
  }
  const time = clockStateOfServer(reply.serverSeconds);
  await storeLicense(folder, { ...storedLicense, publicKeys: publicKeys(), time }).catch(() => undefined);
  const isAlive = isGood && certificate.exp > reply.serverSeconds;
  const allowed: Allowed = {
    ...{ mayRun: true, by: 'service', isTrial: false },
    ...{ plan: stringFieldOf(reply.body, 'plan') ?? '', expiresAt: stringFieldOf(reply.body, 'expiresAt') },
    offlineUntil: isAlive ? isoTimeOf(certificate.exp) : null,
    offlineSeconds: isAlive ? certificate.exp - reply.serverSeconds : null,
    // Only signed features count. Without them the license allows the program to run and nothing else.
    ...entitlementsOf(isGood ? certificate.features : {}),
  };
  return allowed;
}

/** Continues this machine's trial, or begins one. Returns the resulting decision. */
export async function startOrContinueTrial(session: LicenseSession): Promise<Standing> {
  const { folder, kept, machineId, ring, publicKeys } = session;
  const heard = await session.callService({
    method: 'POST',
    target: '/api/trials',
    body: JSON.stringify({ machineId }),
  });
  if (heard.kind !== 'heard') return decideWithoutReply(session, heard);
  if (heard.status !== 200) {
    if (kept !== undefined) await invalidateLicense(session, heard);
    return refusalOfReply(heard);
  }
  const trial: object = heard.body['trial'] ?? {};
  const text = heard.header('license-certificate') ?? '';
  const certificate = readCertificate(text, ring(), 'trial1');
  const isOwn = stringFieldOf(trial, 'machineId') === machineId;
  if (!isOwn || certificate === undefined || !isCertificateOfMachine(certificate, machineId))
    return refusalOfNoReply(untrustedReply);
  const time = clockStateOfServer(heard.serverSeconds);
  await storeLicense(folder, {
    ...{ licenseKey: null, certificate: text, isLent: false, publicKeys: publicKeys(), time },
  });
  return {
    ...{ mayRun: true, by: 'service', isTrial: true },
    ...{ plan: certificate.plan, expiresAt: stringFieldOf(trial, 'expiresAt') },
    offlineUntil: isoTimeOf(certificate.exp),
    offlineSeconds: certificate.exp - heard.serverSeconds,
    ...entitlementsOf(certificate.features),
  };
}

export const toRefusedRelease = ({ mayRun: _, ...why }: LicenseRefusal): Release => ({
  ...why,
  isReleased: false,
});

/** Releases the license and deletes its stored state. */
export async function releaseLicense(
  session: LicenseSession,
  { licenseKey }: StoredLicense,
): Promise<Release> {
  const { folder, machineId } = session;
  const body = JSON.stringify({ licenseKey, machineId });
  const heard = await session.callService({ method: 'POST', target: '/api/activate/release', body });
  if (heard.kind !== 'heard') return toRefusedRelease(refusalOfNoReply(heard));
  if (heard.status === 200) {
    if (licenseOfReply(heard, { licenseKey, machineId }) === undefined)
      return toRefusedRelease(refusalOfNoReply(untrustedReply));
    await deleteStoredState(folder);
    const left = Number(heard.header('license-transfers-left') ?? NaN);
    return { isReleased: true, transfersLeft: Number.isInteger(left) ? left : null };
  }
  const refused = refusalOfReply(heard);
  // A refusal for too many transfers lets this machine keep the license. After any other refusal there is no
  // license to keep.
  if (refused.reason !== 'transfers_exhausted') await invalidateLicense(session, heard);
  return toRefusedRelease(refused);
}
