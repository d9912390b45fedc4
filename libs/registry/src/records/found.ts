/** The kinds of records that a search finds, and the results of a search. */
import { z } from 'zod';
import { Id } from '../kernel/values.ts';

export const FoundKind = z.enum(['story', 'epic', 'spec', 'comment', 'member']);
export type FoundKind = z.output<typeof FoundKind>;

/**
 * The marks around each match in a snippet. If the text itself contains one of them, it is shown as [ or ].
 */
export const hitMarks = ['⟦', '⟧'] as const;

export const FoundRecord = z.object({
  type: FoundKind,
  id: Id.describe("Of the story, epic, comment or member; of a spec, its story's"),
  key: z.string().nullable().describe('Of the story, or of the one that the spec or comment belongs to'),
  title: z
    .string()
    .describe("Of the story or epic; a comment's or spec's is its story's, a member's the name"),
  snippet: z
    .string()
    .describe(
      `Plain text around the first hit, at most 200 characters, each hit between ${hitMarks.join(' and ')}; where the title alone has it, the title`,
    ),
  projectId: Id.nullable().describe('null of a member'),
  score: z.number().describe('From 0 to 1; comparable within one answer'),
});
export type FoundRecord = z.output<typeof FoundRecord>;
