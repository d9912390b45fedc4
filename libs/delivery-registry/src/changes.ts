import { z } from 'zod';
import {
  project,
  operation,
  surfacesWithoutTool,
  pageParams,
  boundedText,
  Id,
  StoryRef,
  ChangedFile,
  Changes,
  FilePatch,
  Sha,
} from '@muster/contract';

export const changes = {
  diff: operation({
    name: 'changes.diff',
    effect: 'read',
    summary: 'Get the changed files of work, and the patch of one file',
    keywords: 'code review diff patch pull request merge request files lines head base approved',
    description:
      'Compares the head with its base. Name the story, which means its newest execution, or an execution. With path, only that file is listed, and patch has its hunks. The changes are read from the connected forge once for each head, otherwise from the diff that the runner uploaded; problem says why there are none.',
    access: project('viewer'),
    alternativeTarget: 'executionId',
    surfaces: surfacesWithoutTool,
    params: z
      .strictObject({
        storyId: StoryRef.optional(),
        executionId: Id.optional(),
        path: boundedText(4_096, 1).optional(),
        headSha: Sha.optional().meta({ description: 'An earlier head; by default the one under review' }),
        ...pageParams,
      })
      .refine(({ storyId, executionId }) => (storyId === undefined) !== (executionId === undefined), {
        error: 'give storyId or executionId',
        path: ['storyId'],
      }),
    result: z.object({
      changes: Changes,
      items: z.array(ChangedFile),
      patch: FilePatch.nullable().describe('null without path, and for a binary file'),
      nextCursor: z.string().nullable(),
    }),
    example: { storyId: 'WEB-2' },
  }),
};
