import { z } from 'zod';
import { Id, textWithinBytes, Time, Version, normalizeLineFeeds } from '../kernel/values.ts';
import { Actor } from './member.ts';

/** The formats of a contract's content. Formats based on JSON are validated to be a JSON object. */
export const contractKinds = [
  'openapi',
  'json_schema',
  'typescript',
  'protobuf',
  'graphql',
  'markdown',
] as const;
export const ContractKind = z.enum(contractKinds);
export type ContractKind = z.infer<typeof ContractKind>;

export const ContractContent = textWithinBytes(256 * 1024)
  .refine((content) => content.length > 0, 'must not be empty')
  .overwrite(normalizeLineFeeds);

/**
 * One version of an interface between stories. Versions never change. A new version may be of another kind.
 */
export const Contract = z
  .object({
    id: Id.describe('The same in all versions'),
    projectId: Id,
    slug: z.string(),
    version: Version,
    kind: ContractKind,
    content: z.string().nullable().describe('null if omitted, either on request or because it is large'),
    contentHash: z.string().describe('SHA-256 of the content, hexadecimal'),
    size: z.int().describe('Size of the content in bytes'),
    storyId: Id.nullable().describe('The story for which this version was published'),
    note: z.string().nullable(),
    publishedBy: Actor,
    importedBy: Actor.nullable().describe('Who imported it; null if it was written in Muster'),
    importedFrom: z.string().nullable().describe('The source from which it was imported'),
    createdAt: Time,
  })
  .meta({ id: 'Contract' });
export type Contract = z.infer<typeof Contract>;
