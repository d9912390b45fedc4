/** The kinds of records that a search finds, and the results of a search. */
import { z } from 'zod';
import { Id } from '../kernel/values.ts';

export const SearchHitKind = z.enum(['story', 'epic', 'spec', 'comment', 'member']);
export type SearchHitKind = z.output<typeof SearchHitKind>;

/**
 * The marks around each match in a snippet. If the text itself contains one of them, it is shown as [ or ].
 */
export const matchMarkers = ['⟦', '⟧'] as const;

export const SearchHit = z.object({
  type: SearchHitKind,
  id: Id.describe('The id of the story, epic, comment or member; for a spec, that of its story'),
  key: z
    .string()
    .nullable()
    .describe('The key of the story, or of the story that the spec or comment belongs to'),
  title: z
    .string()
    .describe(
      'The title of the story or epic; for a comment or spec, that of its story; for a member, the name',
    ),
  snippet: z
    .string()
    .describe(
      `Plain text around the first match, at most 200 characters, with each match between ${matchMarkers.join(' and ')}; the title if only the title matches`,
    ),
  projectId: Id.nullable().describe('null for a member'),
  score: z.number().describe('From 0 to 1; comparable only within one response'),
});
export type SearchHit = z.output<typeof SearchHit>;
