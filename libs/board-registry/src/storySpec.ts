import { z } from 'zod';
import {
  project,
  largeBodyLimitBytes,
  operation,
  pageParams,
  pageSchemaOf,
  StoryRef,
  boundedText,
  Spec,
  SpecContent,
  SpecEntry,
} from '@muster/contract';

const SpecVersion = z.int().min(0).max(2_147_483_647);

export const storySpec = {
  get: operation({
    name: 'storySpec.get',
    effect: 'read',
    summary: "Get a story's spec",
    keywords: 'read specification requirements document acceptance criteria',
    description:
      'The newest version, or the given one. A story without a spec has version 0 with empty content.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef, version: SpecVersion.optional() }),
    result: z.object({ spec: Spec }),
    example: { storyId: 'WEB-1' },
  }),
  update: operation({
    name: 'storySpec.update',
    effect: 'write',
    idempotent: true,
    summary: "Write a story's spec",
    keywords: 'edit specification requirements document acceptance criteria write',
    description:
      'Each change creates a new version; unchanged content creates none. With baseVersion the call fails if the spec has changed since that version. Approvals of an older version become stale.',
    access: project('contributor'),
    params: z.strictObject({
      storyId: StoryRef,
      content: SpecContent,
      baseVersion: SpecVersion.optional().meta({
        description: 'The version that you read; required for MCP tools if a spec exists',
      }),
      note: boundedText(500).optional(),
    }),
    result: z.object({ spec: Spec }),
    refusals: ['version_mismatch', 'archived'],
    emits: ['spec.updated'],
    bodyLimit: largeBodyLimitBytes,
    example: { storyId: 'WEB-1', content: '# Sign in with a passkey\n\nNo password is asked for.\n' },
  }),
  history: operation({
    name: 'storySpec.history',
    effect: 'read',
    summary: 'List the versions of a spec',
    keywords: 'specification changes diff revisions who changed older versions',
    description: 'Newest first, without content, each with the number of added and removed lines.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef, ...pageParams }),
    result: pageSchemaOf(SpecEntry.extend({ linesAdded: z.int(), linesRemoved: z.int() })),
    example: { storyId: 'WEB-1' },
  }),
  restore: operation({
    name: 'storySpec.restore',
    effect: 'write',
    summary: 'Restore an old version of a spec',
    keywords: 'undo revert rollback specification',
    description:
      'Creates a new version with the old content; history is never changed. Restoring the current version has no effect.',
    access: project('contributor'),
    params: z.strictObject({ storyId: StoryRef, version: z.int().min(1).max(2_147_483_647) }),
    result: z.object({ spec: Spec }),
    refusals: ['archived'],
    emits: ['spec.restored'],
    example: { storyId: 'WEB-1', version: 1 },
  }),
};
