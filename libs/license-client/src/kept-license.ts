/**
 * The stored license: decides whether the program may run while the service does not answer, and invalidates
 * it after a refusal.
 */
import { type ServiceReply, type NotHeard } from './asking.ts';
import { forgetRequest, keep, type CachedLicense } from './cache.ts';
import { type Certificate, isOfMachine, readCertificate } from './certificate.ts';
import { seenAt, timeNow, timeOfServer } from './clock.ts';
import { entitledTo } from './features.ts';
import { notHeard } from './refusals.ts';
import { type LicenseSession } from './session.ts';
import { type Allowed, refusal, type Standing } from './standing.ts';

export const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** Returns the certificate of the license or of the trial. */
export const certificateIn = (
  { licenseKey, certificate }: CachedLicense,
  ring: LicenseSession['ring'],
): Certificate | undefined =>
  readCertificate(certificate ?? '', ring(), licenseKey === null ? 'trial1' : 'lic1');

/** The stored state of a license, not of a trial. */
export type KeptLicense = CachedLicense & { readonly licenseKey: string };

export const licenseOf = (kept: CachedLicense | undefined): KeptLicense | undefined =>
  kept === undefined || kept.licenseKey === null ? undefined : { ...kept, licenseKey: kept.licenseKey };

/** Decides by the certificate alone. Also returns the current time, if it is known. */
function byCertificate({
  kept,
  writtenMillis,
  machineId,
  ring,
}: LicenseSession): [Standing, number | undefined] {
  if (kept?.certificate == null) return [refusal('no_license', { isFinal: true }), undefined];
  const certificate = certificateIn(kept, ring);
  if (certificate === undefined) return [refusal('certificate_not_genuine'), undefined];
  if (!isOfMachine(certificate, machineId)) return [refusal('certificate_of_another_machine'), undefined];
  const now = timeNow(seenAt(kept.time, certificate.iat * 1_000), { writtenMillis });
  if (now === undefined) return [refusal('clock_turned_back'), undefined];
  if (now >= certificate.exp * 1_000) return [refusal('certificate_ended'), now];
  const { plan, exp, features } = certificate;
  const allowed: Allowed = {
    ...{ mayRun: true, by: 'certificate', plan, expiresAt: null, offlineUntil: timeText(exp) },
    isTrial: kept.licenseKey === null,
    offlineSeconds: exp - now / 1_000,
    ...entitledTo(features),
  };
  return [allowed, now];
}

/** Decides from the stored state, without the service. A program that may run also runs if the disk is full. */
export async function goOn(session: LicenseSession): Promise<Standing> {
  const [standing, now] = byCertificate(session);
  if (session.kept !== undefined && now !== undefined) {
    const time = seenAt(session.kept.time, now);
    if (time.latestMillis > session.kept.time.latestMillis) {
      await keep(session.folder, { ...session.kept, time }).catch(() => undefined);
    }
  }
  return standing;
}

/**
 * Decides after a call without an answer. Returns the decision from the stored license, if there is one.
 * Otherwise returns the reason why there was no answer.
 */
export async function without(session: LicenseSession, outcome: NotHeard): Promise<Standing> {
  const standing = await goOn(session);
  if (standing.mayRun || session.kept?.certificate != null) return standing;
  return notHeard(outcome);
}

/** Requires a positive answer of the service from now on. The refusal counts even if it cannot be stored. */
export async function drop(
  { folder, kept, publicKeys }: LicenseSession,
  { serverSeconds }: ServiceReply,
): Promise<void> {
  if (kept === undefined) return;
  const time = timeOfServer(serverSeconds);
  const refused = { ...kept, certificate: null, publicKeys: publicKeys(), time };
  await keep(folder, refused).catch(() => undefined);
  await forgetRequest(folder).catch(() => undefined);
}
