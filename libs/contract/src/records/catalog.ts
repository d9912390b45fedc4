/** The catalog: agents that an organization shares, in immutable versions. */
import { z } from 'zod';
import { Id, nameText, boundedText, textWithinBytes, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

export const CatalogSlug = z
  .string()
  .regex(
    /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/,
    'must be 1 to 64 characters: a-z and 0-9, with - between words',
  )
  .meta({ description: 'The unique short name of an agent, such as code-reviewer' });

/**
 * The official pattern of Semantic Versioning 2.0.0. Numbers are limited to those that JavaScript represents
 * exactly, and the length to 128 characters.
 */
const semanticVersionPattern =
  /^(?=.{1,128}$)(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
export const CatalogVersion = z
  .string()
  .regex(semanticVersionPattern, 'must be a semantic version such as 1.4.0 or 2.0.0-beta.1')
  .meta({ description: 'A semantic version, such as 1.4.0 or 2.0.0-beta.1' });

/** A requested version: an exact one, or a range that stands for its newest version. */
export const VersionRange = boundedText(256, 1).meta({
  description:
    'A version, or a range such as ^1.2, which selects the newest match; by default the newest version',
});

export const CatalogName = nameText(120);
export const CatalogDescription = boundedText(4000);
/** The maximum size of a manifest, 64 KiB. */
export const maxManifestBytes = 64 * 1024;

/** The maximum size of the content, 4 MiB after decoding. */
export const maxContentBytes = 4 * 1024 * 1024;
/** The content as text. Base64 takes four characters for every three bytes. */
export const CatalogContent = textWithinBytes(4 * Math.ceil(maxContentBytes / 3))
  .refine((content) => content !== '', 'must not be empty')
  .meta({ description: 'Text, or base64 for binary content; at most 4 MiB decoded' });
export const ContentEncoding = z.enum(['utf8', 'base64']);
export type ContentEncoding = z.infer<typeof ContentEncoding>;

const mediaTypePattern =
  /^(?=.{3,255}$)[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(; ?[A-Za-z0-9_-]+=[A-Za-z0-9!#$&^_.+-]+)*$/;
export const ContentType = z
  .string()
  .regex(mediaTypePattern, 'must be a media type such as text/markdown')
  .meta({ description: 'A media type; the default is plain text for utf8 and binary for base64' });

/** One version of an agent in the catalog. */
export const CatalogAgent = z
  .object({
    id: Id.describe("The agent's id, the same for all versions"),
    slug: z.string(),
    version: z.string(),
    name: z.string(),
    description: z.string(),
    manifest: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('null if omitted, either on request or because it is large'),
    tags: z.array(z.string()),
    sha256: z.string().describe('SHA-256 hash of the decoded content'),
    size: z.int().describe('Size of the decoded content in bytes'),
    contentType: z.string(),
    publishedBy: Actor,
    createdAt: Time.describe('When this version was published'),
  })
  .meta({ id: 'CatalogAgent' });
export type CatalogAgent = z.infer<typeof CatalogAgent>;

export const CatalogVersionRef = z
  .object({ version: z.string(), sha256: z.string(), size: z.int(), createdAt: Time })
  .meta({ id: 'CatalogVersion' });
export type CatalogVersionRef = z.infer<typeof CatalogVersionRef>;
