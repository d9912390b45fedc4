/**
 * What one domain asks of another: stated and performed like operations, in the caller's own transaction, and on no
 * surface. Nobody outside can call these.
 */
import { z } from 'zod';
import { org, project } from './kernel/access.ts';
import { operation } from './kernel/operation.ts';
import { ProjectRef, StoryRef } from './kernel/values.ts';
import { Collision } from './records/context.ts';
import { Lock } from './records/lock.ts';

export const inside = {
  workAround: operation({
    name: 'inside.workAround',
    effect: 'read',
    summary: 'Find what others hold and touch around a story',
    description: `The live locks of the story's project, the story's own first, and what its work collides with.`,
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({
      locks: z.array(Lock),
      moreLocks: z.boolean(),
      collisions: z.array(Collision),
      moreCollisions: z.boolean(),
    }),
    example: { storyId: 'WEB-2' },
  }),
  endWork: operation({
    name: 'inside.endWork',
    effect: 'write',
    summary: 'End all work in a project',
    description: `Every lease in it is free, every execution that was open is canceled and every lock gone; whoever held a lease is told.`,
    access: org('admin'),
    params: z.strictObject({ projectId: ProjectRef }),
    result: z.object({ ended: z.int().describe('Executions that were open') }),
    emits: ['execution.completed'],
    example: { projectId: 'WEB' },
  }),
};
