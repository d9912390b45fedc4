import { z } from 'zod';
import {
  project,
  largeBodyLimitBytes,
  operation,
  pageParams,
  pageSchemaOf,
  ProjectRef,
  StoryRef,
  boundedText,
  Contract,
  ContractContent,
  ContractKind,
  Slug,
} from '@muster/contract';

export const contracts = {
  publish: operation({
    name: 'contracts.publish',
    effect: 'write',
    idempotent: true,
    summary: 'Publish an interface that stories agree on',
    keywords: 'api schema openapi interface share types',
    description:
      'Each change creates a version; versions never change. Publishing the current content and kind again creates none (created: false). With baseVersion the call fails if another member published a newer version; baseVersion 0 means that there is none yet. With storyId the contract is linked to that story. openapi must be a JSON object, json_schema a JSON object or boolean.',
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      slug: Slug,
      kind: ContractKind,
      content: ContractContent,
      storyId: StoryRef.optional(),
      baseVersion: z.int().min(0).max(2_147_483_647).optional(),
      note: boundedText(500).optional(),
    }),
    result: z.object({ contract: Contract, created: z.boolean() }),
    refusals: ['version_mismatch', 'malformed_content', 'mismatched_project', 'archived'],
    emits: ['contract.published'],
    bodyLimit: largeBodyLimitBytes,
    example: {
      projectId: 'WEB',
      slug: 'session-api',
      kind: 'typescript',
      content: 'export interface Session { token: string; expiresAt: string }\n',
      storyId: 'WEB-1',
    },
  }),
  list: operation({
    name: 'contracts.list',
    effect: 'read',
    summary: 'List the contracts of a project',
    keywords: 'api schema openapi interface types agreed',
    description:
      'The newest version of each contract, sorted by slug; with slug, all versions of that contract, newest first. With storyId, only contracts published for that story. Content only with includeContent; size is its length.',
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      slug: Slug.optional(),
      storyId: StoryRef.optional(),
      includeContent: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(Contract),
    example: { projectId: 'WEB', slug: 'clock-api', includeContent: true },
  }),
};
