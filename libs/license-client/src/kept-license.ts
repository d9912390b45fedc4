/**
 * The stored license: decides whether the program may run while the service does not answer, and invalidates
 * it after a refusal.
 */
import { type ServiceReply, type NoReply } from './asking.ts';
import { deleteRequest, storeLicense, type CachedLicense } from './cache.ts';
import { type Certificate, isCertificateOfMachine, readCertificate } from './certificate.ts';
import { withLatestTime, currentTimeMillis, clockStateOfServer } from './clock.ts';
import { entitlementsOf } from './features.ts';
import { refusalOfNoReply } from './refusals.ts';
import { type LicenseSession } from './session.ts';
import { type Allowed, createRefusal, type Standing } from './standing.ts';

export const isoTimeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** Returns the certificate of the license or of the trial. */
export const readStoredCertificate = (
  { licenseKey, certificate }: CachedLicense,
  ring: LicenseSession['ring'],
): Certificate | undefined =>
  readCertificate(certificate ?? '', ring(), licenseKey === null ? 'trial1' : 'lic1');

/** The stored state of a license, not of a trial. */
export type StoredLicense = CachedLicense & { readonly licenseKey: string };

export const withLicenseKey = (cached: CachedLicense | undefined): StoredLicense | undefined =>
  cached === undefined || cached.licenseKey === null
    ? undefined
    : { ...cached, licenseKey: cached.licenseKey };

/** Decides by the certificate alone. Also returns the current time, if it is known. */
function decideByCertificate({
  kept,
  writtenMillis,
  machineId,
  ring,
}: LicenseSession): [Standing, number | undefined] {
  if (kept?.certificate == null) return [createRefusal('no_license', { isFinal: true }), undefined];
  const certificate = readStoredCertificate(kept, ring);
  if (certificate === undefined) return [createRefusal('certificate_not_genuine'), undefined];
  if (!isCertificateOfMachine(certificate, machineId))
    return [createRefusal('certificate_of_another_machine'), undefined];
  const now = currentTimeMillis(withLatestTime(kept.time, certificate.iat * 1_000), { writtenMillis });
  if (now === undefined) return [createRefusal('clock_turned_back'), undefined];
  if (now >= certificate.exp * 1_000) return [createRefusal('certificate_ended'), now];
  const { plan, exp, features } = certificate;
  const allowed: Allowed = {
    ...{ mayRun: true, by: 'certificate', plan, expiresAt: null, offlineUntil: isoTimeOf(exp) },
    isTrial: kept.licenseKey === null,
    offlineSeconds: exp - now / 1_000,
    ...entitlementsOf(features),
  };
  return [allowed, now];
}

/** Decides from the stored state, without the service. A program that may run also runs if the disk is full. */
export async function decideOffline(session: LicenseSession): Promise<Standing> {
  const [standing, now] = decideByCertificate(session);
  if (session.kept !== undefined && now !== undefined) {
    const time = withLatestTime(session.kept.time, now);
    if (time.latestMillis > session.kept.time.latestMillis)
      await storeLicense(session.folder, { ...session.kept, time }).catch(() => undefined);
  }
  return standing;
}

/**
 * Decides after a call without an answer. Returns the decision from the stored license, if there is one.
 * Otherwise returns the reason why there was no answer.
 */
export async function decideWithoutReply(session: LicenseSession, noReply: NoReply): Promise<Standing> {
  const standing = await decideOffline(session);
  if (standing.mayRun || session.kept?.certificate != null) return standing;
  return refusalOfNoReply(noReply);
}

/** Requires a positive answer of the service from now on. The refusal counts even if it cannot be stored. */
export async function invalidateLicense(
  { folder, kept, publicKeys }: LicenseSession,
  { serverSeconds }: ServiceReply,
): Promise<void> {
  if (kept === undefined) return;
  const time = clockStateOfServer(serverSeconds);
  const refused = { ...kept, certificate: null, publicKeys: publicKeys(), time };
  await storeLicense(folder, refused).catch(() => undefined);
  await deleteRequest(folder).catch(() => undefined);
}
