/** The question for the latest release, and its answer. */
import { type LicenseRefusal } from './standing.ts';

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
