/**
 * Handles calls that the service may grant: activating, renewing or releasing a license on this machine, and
 * a trial without a key.
 */
import { type ServiceReply, type NotHeard } from './asking.ts';
import { forget, keep } from './cache.ts';
import { type Certificate, isOfMachine, readCertificate } from './certificate.ts';
import { timeOfServer } from './clock.ts';
import { entitledTo } from './features.ts';
import { certificateIn, drop, type KeptLicense, timeText, without } from './kept-license.ts';
import { notHeard, refusalIn, textIn } from './refusals.ts';
import { sameKey, type LicenseSession } from './session.ts';
import { type Allowed, type Refused, type Release, type Standing } from './standing.ts';

/** Returns the license of an answer. Returns undefined unless it has this key and this machine. */
function licenseIn({ body }: ServiceReply, own: { readonly licenseKey: string; readonly machineId: string }) {
  const license: object = body['license'] ?? {};
  const key = textIn(license, 'key');
  const isOwn =
    key !== null && sameKey(key, own.licenseKey) && textIn(license, 'machineId') === own.machineId;
  return isOwn ? { ...license, key } : undefined;
}

const untrusted: NotHeard = { kind: 'untrusted', retryAfterSeconds: null };

/** Returns true if more than half of the certificate's life has passed. */
const isDue = ({ iat, exp }: Certificate, nowSeconds: number): boolean => exp - nowSeconds < (exp - iat) / 2;

export async function activateIn(session: LicenseSession, licenseKey: string): Promise<Standing | NotHeard> {
  const { folder, machineId, ring, publicKeys, kept } = session;
  const heard = await session.ask({
    method: 'POST',
    target: '/api/activate',
    body: JSON.stringify({ licenseKey, machineId }),
  });
  if (heard.kind !== 'heard') return heard;
  if (heard.status !== 200) {
    if (kept !== undefined && sameKey(kept.licenseKey, licenseKey)) await drop(session, heard);
    return refusalIn(heard);
  }
  const license = licenseIn(heard, { licenseKey, machineId });
  const text = heard.header('license-certificate') ?? '';
  const certificate = readCertificate(text, ring());
  // A genuine answer to this call has a license, a certificate, and the ID of this machine. Any other answer
  // was made for another caller.
  if (license === undefined || certificate === undefined || !isOfMachine(certificate, machineId))
    return untrusted;
  await keep(folder, {
    licenseKey: license.key,
    certificate: text,
    isLent: certificate.lease !== null,
    publicKeys: publicKeys(),
    time: timeOfServer(heard.serverSeconds),
  });
  return {
    ...{ mayRun: true, by: 'service', isTrial: false },
    ...{ plan: textIn(license, 'plan') ?? '', expiresAt: textIn(license, 'expiresAt') },
    offlineUntil: timeText(certificate.exp),
    offlineSeconds: certificate.exp - heard.serverSeconds,
    ...entitledTo(certificate.features),
  };
}

/** Updates the stored license after a positive answer, and its certificate if it is due. */
export async function renewed(
  session: LicenseSession,
  kept: KeptLicense,
  heard: ServiceReply,
): Promise<Standing> {
  const { folder, ring, machineId, publicKeys } = session;
  const certificate = certificateIn(kept, ring);
  const isGood = certificate !== undefined && isOfMachine(certificate, machineId);
  if (!isGood || isDue(certificate, heard.serverSeconds)) {
    const outcome = await activateIn(session, kept.licenseKey);
    if (!('kind' in outcome)) return outcome;
  }
  const time = timeOfServer(heard.serverSeconds);
  await keep(folder, { ...kept, publicKeys: publicKeys(), time }).catch(() => undefined);
  const isAlive = isGood && certificate.exp > heard.serverSeconds;
  const allowed: Allowed = {
    ...{ mayRun: true, by: 'service', isTrial: false },
    ...{ plan: textIn(heard.body, 'plan') ?? '', expiresAt: textIn(heard.body, 'expiresAt') },
    offlineUntil: isAlive ? timeText(certificate.exp) : null,
    offlineSeconds: isAlive ? certificate.exp - heard.serverSeconds : null,
    // Only signed features count. Without them the license allows the program to run and nothing else.
    ...entitledTo(isGood ? certificate.features : {}),
  };
  return allowed;
}

/** Continues this machine's trial, or begins one. Returns the resulting decision. */
export async function tried(session: LicenseSession): Promise<Standing> {
  const { folder, kept, machineId, ring, publicKeys } = session;
  const heard = await session.ask({
    method: 'POST',
    target: '/api/trials',
    body: JSON.stringify({ machineId }),
  });
  if (heard.kind !== 'heard') return without(session, heard);
  if (heard.status !== 200) {
    if (kept !== undefined) await drop(session, heard);
    return refusalIn(heard);
  }
  const trial: object = heard.body['trial'] ?? {};
  const text = heard.header('license-certificate') ?? '';
  const certificate = readCertificate(text, ring(), 'trial1');
  const isOwn = textIn(trial, 'machineId') === machineId;
  if (!isOwn || certificate === undefined || !isOfMachine(certificate, machineId)) return notHeard(untrusted);
  const time = timeOfServer(heard.serverSeconds);
  await keep(folder, {
    ...{ licenseKey: null, certificate: text, isLent: false, publicKeys: publicKeys(), time },
  });
  return {
    ...{ mayRun: true, by: 'service', isTrial: true },
    ...{ plan: certificate.plan, expiresAt: textIn(trial, 'expiresAt') },
    offlineUntil: timeText(certificate.exp),
    offlineSeconds: certificate.exp - heard.serverSeconds,
    ...entitledTo(certificate.features),
  };
}

export const refuse = ({ mayRun: _, ...why }: Refused): Release => ({ ...why, isReleased: false });

/** Releases the license and deletes its stored state. */
export async function released(session: LicenseSession, { licenseKey }: KeptLicense): Promise<Release> {
  const { folder, machineId } = session;
  const body = JSON.stringify({ licenseKey, machineId });
  const heard = await session.ask({ method: 'POST', target: '/api/activate/release', body });
  if (heard.kind !== 'heard') return refuse(notHeard(heard));
  if (heard.status === 200) {
    if (licenseIn(heard, { licenseKey, machineId }) === undefined) return refuse(notHeard(untrusted));
    await forget(folder);
    const left = Number(heard.header('license-transfers-left') ?? NaN);
    return { isReleased: true, transfersLeft: Number.isInteger(left) ? left : null };
  }
  const refused = refusalIn(heard);
  // A refusal for too many transfers lets this machine keep the license. After any other refusal there is no
  // license to keep.
  if (refused.reason !== 'transfers_exhausted') await drop(session, heard);
  return refuse(refused);
}
