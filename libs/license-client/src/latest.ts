/** Asks the service for the latest release that the license may download. */
import { licenseOfReply, untrustedReply } from './granted.ts';
import { refusalOfNoReply, refusalOfReply, toUnknown } from './refusals.ts';
import { withLicenseKey } from './kept-license.ts';
import { type LatestAnswer, type LatestOptions, type LatestRelease } from './latest-answer.ts';
import { type LicenseSession } from './session.ts';
import { createRefusal } from './standing.ts';

export async function findLatestRelease(
  { kept, machineId, callService }: LicenseSession,
  { platform = `${process.platform}-${process.arch}`, ...options }: LatestOptions,
): Promise<LatestAnswer> {
  const license = withLicenseKey(kept);
  if (license === undefined) return toUnknown(createRefusal('no_license', { isFinal: true }));
  const { licenseKey } = license;
  const body = JSON.stringify({ licenseKey, machineId, platform, ...options });
  const reply = await callService({ method: 'POST', target: '/api/releases/latest', body });
  if (reply.kind !== 'heard') return toUnknown(refusalOfNoReply(reply));
  if (reply.status !== 200) return toUnknown(refusalOfReply(reply));
  if (licenseOfReply(reply, { licenseKey, machineId }) === undefined)
    return toUnknown(refusalOfNoReply(untrustedReply));
  // The signature covers the body, so its fields are those of the service.
  return { isKnown: true, release: (reply.body['release'] ?? null) as LatestRelease | null };
}
