/** Asks the service for the latest release that the license may download. */
import { refusalOfNoReply, refusalOfReply, stringFieldOf } from './refusals.ts';
import { withLicenseKey } from './kept-license.ts';
import { isSameKey, type LicenseSession } from './session.ts';
import { createRefusal, type LicenseRefusal } from './standing.ts';

export interface LatestOptions {
  /** The channel, `stable` by default. It includes releases of more stable channels. */
  readonly channel?: 'stable' | 'beta' | 'alpha';
  /** Only releases with a file for this platform. The default is that of this machine, such as `linux-x64`. */
  readonly platform?: string;
  /** Only versions in this range, such as `^2.1.0`. */
  readonly constraint?: string;
}

export interface ReleaseFile {
  readonly name: string;
  readonly platform: string;
  readonly size: number;
  /** The SHA-256 of the file in hexadecimal. Compare it before you run the file. */
  readonly sha256: string;
  /** The address, valid for five minutes. Null if the seller has set none. */
  readonly url: string | null;
}

export interface LatestRelease {
  readonly version: string;
  readonly channel: string;
  readonly publishedAt: string;
  readonly notesUrl: string | null;
  readonly artifacts: readonly ReleaseFile[];
}

export type LatestAnswer =
  | {
      readonly isKnown: true;
      /** Null if no release fits that the license may download. */
      readonly release: LatestRelease | null;
    }
  | (Omit<LicenseRefusal, 'mayRun'> & { readonly isKnown: false });

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
