/** Conflicts between the work on stories: a path that both change. */
import { z } from 'zod';
import { Id } from '../kernel/values.ts';
import { Actor } from './member.ts';

export const ConflictSource = z
  .enum(['touches', 'lock', 'files', 'pull_request'])
  .describe(
    'The paths in touches of a story, a lock, the files of the last checkpoint of work in progress, or those of work whose pull request is open',
  );
export type ConflictSource = z.infer<typeof ConflictSource>;

/** The lock or work of another holder that a story would conflict with. */
export const ConflictingWork = z
  .object({
    source: ConflictSource,
    storyId: Id.nullable(),
    key: z.string().nullable(),
    lockId: Id.nullable(),
    holder: Actor.nullable().describe('Null if the work was submitted'),
  })
  .meta({ id: 'ConflictingWork' });
export type ConflictingWork = z.infer<typeof ConflictingWork>;

const StoryInConflict = z.object({ id: Id, key: z.string() });

/** Two stories that would change the same path if they were worked on at the same time. */
export const StoryConflictPair = z
  .object({
    a: StoryInConflict,
    b: StoryInConflict,
    witness: z.string().describe('A path or name that both have in common'),
    source: ConflictSource,
  })
  .meta({ id: 'StoryConflictPair' });
export type StoryConflictPair = z.infer<typeof StoryConflictPair>;

/** The most changed files that a comparison with `touches` lists. */
export const maxListedFiles = 50;

/** The changed files of work, compared with the touches of its stories. */
export const TouchesCheck = z
  .object({
    outside: z
      .array(z.string())
      .describe(`Changed files that touches does not cover: the first ${maxListedFiles}`),
    untouched: z.array(z.string()).describe('Paths and globs in touches that no changed file matches'),
  })
  .meta({ id: 'TouchesCheck' });
export type TouchesCheck = z.infer<typeof TouchesCheck>;

/** A story's changed files compared with its touches, with paths that touches should probably cover too. */
export const StoryTouches = TouchesCheck.extend({
  suggested: z
    .array(z.string())
    .describe(
      'Files that touches does not cover, and that merged stories with the same epic or a common label changed; the most frequent first. Empty once the story is finished',
    ),
}).meta({ id: 'StoryTouches' });
export type StoryTouches = z.infer<typeof StoryTouches>;
