/** Schemas of releases and of the calls that find the latest one. */
import semver, { type SemVer } from 'semver';
import { z } from 'zod';

/** The channels, the most stable first. A program on a channel also gets releases of more stable ones. */
export const releaseChannels = ['stable', 'beta', 'alpha'] as const;
export type ReleaseChannel = (typeof releaseChannels)[number];
export const platformPattern = /^[a-z0-9][a-z0-9._-]{0,31}$/;

/** The longest version. The router accepts at most 100 characters in a part of a path. */
const maxVersionLength = 100;

/** Parses a version by Semantic Versioning. Returns undefined for other texts, also with a prefix `v` or spaces. */
export function parseVersion(text: string): SemVer | undefined {
  const parsed = semver.parse(text.length > maxVersionLength ? '' : text);
  const build = parsed?.build.length ? `+${parsed.build.join('.')}` : '';
  return parsed !== null && `${parsed.version}${build}` === text ? parsed : undefined;
}

export const ReleaseArtifact = z.object({
  name: z.string(),
  platform: z.string(),
  size: z.int().describe('The size in bytes.'),
  sha256: z.string().describe('The SHA-256 of the file in hexadecimal.'),
});
export type ReleaseArtifact = z.output<typeof ReleaseArtifact>;

/** The names of files. The router accepts at most 100 characters in a part of a path. `.` and `..` are no names. */
export const fileNamePattern = /^(?!\.{1,2}$)[\w.+-]{1,100}$/;

/** A file of a new release. */
export const NewArtifact = z.strictObject({
  name: z.string().regex(fileNamePattern, 'must be 1 to 100 letters, digits, or . _ + -'),
  platform: z.string().regex(platformPattern, 'must be a platform such as linux-x64'),
  size: z.int().min(0).describe('The size in bytes.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
    .describe('The SHA-256 of the file.'),
});
export const NotesUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(1_024)
  .describe('The address of the release notes.');

const maxConstraintLength = 128;

/** The parameters of a call for the latest release in addition to the key and the machine. */
export const LatestParams = z.strictObject({
  channel: z.enum(releaseChannels).default('stable').describe('Includes releases of more stable channels.'),
  platform: z
    .string()
    .regex(platformPattern)
    .optional()
    .describe('Only releases with a file for it: linux-x64.'),
  constraint: z
    .string()
    .min(1)
    .max(maxConstraintLength)
    .refine((text) => semver.validRange(text) !== null, 'must be a range of versions such as ^2.1.0')
    .optional()
    .describe('Only versions in this range, such as ^2.1.0.'),
});
export type LatestParams = z.output<typeof LatestParams>;

export const LatestResult = z.object({
  release: z
    .object({
      version: z.string(),
      channel: z.enum(releaseChannels),
      publishedAt: z.iso.datetime(),
      notesUrl: z.string().nullable(),
      artifacts: z.array(
        ReleaseArtifact.extend({
          url: z
            .string()
            .nullable()
            .describe('Valid until urlsExpireAt; null if the product has no downloads.'),
        }),
      ),
      urlsExpireAt: z.iso.datetime(),
    })
    .nullable()
    .describe('null if no release fits that the license may download.'),
});
export type LatestResult = z.output<typeof LatestResult>;

/** The releases that a license may download. An empty policy allows all until the license expires. */
export const UpdatePolicy = z.strictObject({
  /** Releases that were published within this time after the first activation, in seconds. */
  for: z.int().min(1).optional(),
  /** The highest allowed version: `2` allows 2.9.1, and not 3.0.0. */
  maxVersion: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6}){0,2}$/)
    .optional(),
  /** True if releases that were published before the end of the license can be downloaded after it. */
  afterExpiry: z.boolean().optional(),
});
export type UpdatePolicy = Readonly<z.infer<typeof UpdatePolicy>>;
