import { z } from 'zod';
import {
  org,
  project,
  largeBodyLimitBytes,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  ExpectedVersion,
  ProjectRef,
  Prompt,
  PromptArguments,
  PromptBody,
  PromptTags,
  PromptTitle,
  Slug,
} from '@muster/contract';

const promptParams = {
  slug: Slug,
  title: PromptTitle,
  body: PromptBody,
  arguments: PromptArguments.default([]),
  tags: PromptTags.default([]),
  expectedVersion: ExpectedVersion,
};
const promptListParams = {
  slug: Slug.optional().meta({ description: 'Only the prompt with this slug' }),
  includeBody: z.boolean().optional().meta({
    description: 'true returns all texts, false none; by default those up to 4 KiB',
  }),
  ...pageParams,
};
const example = {
  slug: 'review',
  title: 'Review a story',
  body: 'Read the spec of {{storyKey}} and name what is missing.',
  arguments: [{ name: 'storyKey', description: 'Such as WEB-42', required: true }],
};

export const prompts = {
  org: {
    upsert: operation({
      name: 'prompts.org.upsert',
      effect: 'write',
      idempotent: true,
      summary: 'Create or change a prompt of the organization',
      keywords: 'save template instructions guidelines create edit',
      description:
        'Creates the prompt, or a new version of the prompt with this slug; unchanged content has no effect. It applies to every project that has no prompt of its own with that slug.',
      access: org('admin'),
      params: z.strictObject(promptParams),
      result: z.object({ prompt: Prompt }),
      refusals: ['version_mismatch'],
      emits: ['prompt.created', 'prompt.updated'],
      bodyLimit: largeBodyLimitBytes,
      example,
    }),
    delete: operation({
      name: 'prompts.org.delete',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: 'Delete a prompt of the organization',
      keywords: 'remove template instructions guidelines',
      description: 'Prompts of projects with that slug stay.',
      access: org('admin'),
      params: z.strictObject({ slug: Slug }),
      result: Deleted,
      emits: ['prompt.deleted'],
      example: { slug: 'start' },
    }),
    list: operation({
      name: 'prompts.org.list',
      effect: 'read',
      summary: 'List the prompts of the organization',
      keywords: 'templates instructions shared guidelines',
      description:
        'Sorted by slug. Texts larger than 4 KiB are omitted (body is null, bodyBytes is the size) unless includeBody is true or slug is given.',
      access: org('viewer'),
      params: z.strictObject(promptListParams),
      result: pageSchemaOf(Prompt),
      example: {},
    }),
  },
  project: {
    upsert: operation({
      name: 'prompts.project.upsert',
      effect: 'write',
      idempotent: true,
      summary: 'Create or change a prompt of a project',
      keywords: 'save template instructions guidelines create edit',
      description:
        "Creates the prompt, or a new version of the prompt with this slug; unchanged content has no effect. In this project it replaces the organization's prompt with that slug.",
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, ...promptParams }),
      result: z.object({ prompt: Prompt }),
      refusals: ['version_mismatch', 'archived'],
      emits: ['prompt.created', 'prompt.updated'],
      bodyLimit: largeBodyLimitBytes,
      example: { projectId: 'WEB', ...example },
    }),
    delete: operation({
      name: 'prompts.project.delete',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: 'Delete a prompt of a project',
      keywords: 'remove template instructions guidelines',
      description: 'If the organization has a prompt with that slug, it applies to the project again.',
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, slug: Slug }),
      result: Deleted,
      refusals: ['archived'],
      emits: ['prompt.deleted'],
      example: { projectId: 'WEB', slug: 'start' },
    }),
    list: operation({
      name: 'prompts.project.list',
      effect: 'read',
      summary: 'List the prompts of a project',
      keywords: 'templates instructions guidelines conventions',
      description:
        "Sorted by slug. Texts larger than 4 KiB are omitted (body is null, bodyBytes is the size) unless includeBody is true or slug is given. With effective, the result includes the organization's prompts that the project does not replace: those that a member who works there sees.",
      access: project('viewer'),
      params: z.strictObject({
        projectId: ProjectRef,
        effective: z.boolean().default(false),
        ...promptListParams,
      }),
      result: pageSchemaOf(Prompt),
      example: { projectId: 'WEB', effective: true },
    }),
  },
};
