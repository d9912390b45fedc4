import { z } from 'zod';
import {
  project,
  operation,
  StoryRef,
  contextSections,
  minContextBytes,
  maxContextBytes,
  StoryContext,
} from '@muster/contract';

export const storyCollaboration = {
  context: operation({
    name: 'storyCollaboration.context',
    effect: 'read',
    summary: 'Get everything needed to begin work on a story',
    keywords:
      'everything overview about ticket task why can not start readiness blocked brief me conflict others',
    description:
      'One response of at most maxBytes. If it is too large, the least important parts are cut first: recent activity, others, contract content, prompt texts, the oldest threads (those about rework last) and finally the end of the spec; truncated lists the incomplete sections. Sections not in include are null.',
    access: project('viewer'),
    params: z.strictObject({
      storyId: StoryRef,
      include: z
        .array(z.enum(contextSections))
        .min(1)
        .max(contextSections.length)
        .optional()
        .meta({ description: 'Only these sections; all by default' }),
      maxBytes: z
        .int()
        .min(minContextBytes)
        .max(maxContextBytes)
        .default(256 * 1024)
        .meta({ description: 'Maximum size of the result as JSON in bytes' }),
    }),
    result: StoryContext,
    example: { storyId: 'WEB-1' },
  }),
};
