import { z } from 'zod';
import { project, operation, ProjectRef, StoryRef, StoryConflictPair } from '@muster/contract';

/** The part of the namespace `projects` about conflicts of the work in them. */
export const projects = {
  conflicts: operation({
    name: 'projects.conflicts',
    effect: 'read',
    summary: 'List pairs of stories that would change the same files',
    keywords:
      'overlap collision collide clash parallel at the same time same file touches merge conflict safe together',
    description:
      'Compares the unfinished stories of the project, or only the given ones, by their touches, their locks, the files of work in progress, and the files of work whose pull request is open. Each pair is listed once, with a path that both have in common; source says where the path comes from. Pairs of which one waits for the other are left out. At most 1,000 stories are compared and 1,000 pairs listed; if that is not all, or the patterns take too long to compare, truncated is true: give fewer storyIds.',
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      storyIds: z.array(StoryRef).min(1).max(500).optional().meta({
        description: 'Compare only these stories with each other',
      }),
    }),
    result: z.object({
      pairs: z.array(StoryConflictPair),
      truncated: z.boolean().describe('True if pairs may be missing'),
    }),
    example: { projectId: 'WEB' },
  }),
};
