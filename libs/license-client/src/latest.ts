/** Asks the service for the latest release that the license may download. */
import { refusalOfNoReply, refusalOfReply, stringFieldOf } from './refusals.ts';
import { withLicenseKey } from './kept-license.ts';
import { type LatestAnswer, type LatestOptions, type LatestRelease } from './latest-answer.ts';
import { isSameKey, type LicenseSession } from './session.ts';
import { createRefusal, type LicenseRefusal } from './standing.ts';

const refused = ({ mayRun: _, ...refusal }: LicenseRefusal): LatestAnswer => ({ ...refusal, isKnown: false });

export async function findLatestRelease(
  { kept, machineId, callService }: LicenseSession,
  { platform = `${process.platform}-${process.arch}`, ...options }: LatestOptions,
): Promise<LatestAnswer> {
  const license = withLicenseKey(kept);
  if (license === undefined) return refused(createRefusal('no_license', { isFinal: true }));
  const { licenseKey } = license;
  const body = JSON.stringify({ licenseKey, machineId, platform, ...options });
  const reply = await callService({ method: 'POST', target: '/api/releases/latest', body });
  if (reply.kind !== 'heard') return refused(refusalOfNoReply(reply));
  if (reply.status !== 200) return refused(refusalOfReply(reply));
  const owner: object = reply.body['license'] ?? {};
  const isOwn =
    isSameKey(stringFieldOf(owner, 'key'), licenseKey) && stringFieldOf(owner, 'machineId') === machineId;
  if (!isOwn) return refused(refusalOfNoReply({ kind: 'untrusted', retryAfterSeconds: null }));
  // The signature covers the body, so its fields are those of the service.
  return { isKnown: true, release: (reply.body['release'] ?? null) as LatestRelease | null };
}
