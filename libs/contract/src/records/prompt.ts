import { z } from 'zod';
import { Id, nameText, recordStamps, boundedText, textWithinBytes } from '../kernel/values.ts';
import { Actor } from './member.ts';

/** The name by which people and programs use a prompt or a contract. */
export const Slug = z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 characters: a-z, 0-9 and -');

export const PromptTitle = nameText(200);
export const PromptBody = textWithinBytes(64 * 1024).refine((body) => body.length > 0, 'must not be empty');
export const PromptTags = z
  .array(nameText(50))
  .max(20)
  .overwrite((tags) => [...new Set(tags)])
  .meta({ description: 'Its tags, at most 20; duplicates count once' });

/** A value that the user of the prompt fills in. */
const PromptArgument = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be a single word such as storyKey'),
  description: boundedText(500).default(''),
  required: z.boolean().default(false),
});
export const PromptArguments = z
  .array(PromptArgument)
  .max(20)
  .refine((all) => new Set(all.map((argument) => argument.name)).size === all.length, 'names must be unique');

export const Prompt = z
  .object({
    id: Id,
    scope: z.enum(['org', 'project']).describe('The organization or project that owns the prompt'),
    projectId: Id.nullable().describe('null if the prompt belongs to the organization'),
    slug: z.string(),
    title: z.string(),
    body: z.string().nullable().describe('null if omitted, either on request or because it is large'),
    bodyBytes: z.int().describe('Size of the body in bytes'),
    arguments: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
    tags: z.array(z.string()),
    createdBy: Actor,
    updatedBy: Actor,
    importedBy: Actor.nullable().describe('Who imported it; null if it was written in Muster'),
    importedFrom: z.string().nullable().describe('The source from which it was imported'),
    ...recordStamps,
  })
  .meta({ id: 'Prompt' });
export type Prompt = z.infer<typeof Prompt>;
