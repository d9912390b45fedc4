import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { StoryRef } from '../kernel/values.ts';
import { contextSections, leastContextBytes, mostContextBytes, StoryContext } from '../records/context.ts';

export const storyCollaboration = {
  context: operation({
    name: 'storyCollaboration.context',
    effect: 'read',
    summary: 'Get all that is needed to begin work on a story',
    keywords:
      'everything overview about ticket task why can not start readiness blocked brief me conflict others',
    description: `One answer of at most maxBytes. What has no room is cut, the least needed first (recent activity, others, the content of contracts, the text of prompts, the oldest threads, those of rework last, and the end of the spec nearly last), and every section that is not whole is named in truncated. Sections that include leaves out are null.`,
    access: project('viewer'),
    params: z.strictObject({
      storyId: StoryRef,
      include: z
        .array(z.enum(contextSections))
        .min(1)
        .max(contextSections.length)
        .optional()
        .meta({ description: 'Only these sections; all unless said' }),
      maxBytes: z
        .int()
        .min(leastContextBytes)
        .max(mostContextBytes)
        .default(256 * 1024)
        .meta({ description: 'Bytes of the result as JSON in UTF-8' }),
    }),
    result: StoryContext,
    example: { storyId: 'WEB-1' },
  }),
};
