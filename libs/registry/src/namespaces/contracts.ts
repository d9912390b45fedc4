import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { largeBodyLimit, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { ProjectRef, StoryRef, text } from '../kernel/values.ts';
import { Contract, ContractContent, ContractKind } from '../records/contract.ts';
import { Slug } from '../records/prompt.ts';

export const contracts = {
  publish: operation({
    name: 'contracts.publish',
    effect: 'write',
    idempotent: true,
    summary: 'Publish an interface that stories agree on',
    keywords: 'api schema openapi interface share types',
    description: `Each change is a new version, and versions never change. The content and kind that are current already make none (created: false). With baseVersion, what another member published since is not passed over; baseVersion 0 means that there is none yet. With storyId it is among the contracts of that story from then on. openapi must be a JSON object, json_schema a JSON object or boolean.`,
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      slug: Slug,
      kind: ContractKind,
      content: ContractContent,
      storyId: StoryRef.optional(),
      baseVersion: z.int().min(0).max(2_147_483_647).optional(),
      note: text(500).optional(),
    }),
    result: z.object({ contract: Contract, created: z.boolean() }),
    refusals: ['version_mismatch', 'malformed_content', 'mismatched_project', 'archived'],
    emits: ['contract.published'],
    bodyLimit: largeBodyLimit,
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
    description: `The newest version of each, by slug; with slug, all versions of that one, newest first. With storyId, only contracts that were published for that story. Content only with includeContent; size says how long it is.`,
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      slug: Slug.optional(),
      storyId: StoryRef.optional(),
      includeContent: z.boolean().default(false),
      ...page,
    }),
    result: pageOf(Contract),
    example: { projectId: 'WEB', slug: 'clock-api', includeContent: true },
  }),
};
