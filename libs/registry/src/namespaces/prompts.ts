import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { largeBodyLimit, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, ProjectRef } from '../kernel/values.ts';
import { Prompt, PromptArguments, PromptBody, PromptTags, PromptTitle, Slug } from '../records/prompt.ts';

const draft = {
  slug: Slug,
  title: PromptTitle,
  body: PromptBody,
  arguments: PromptArguments.default([]),
  tags: PromptTags.default([]),
  expectedVersion: ExpectedVersion,
};
const listed = {
  slug: Slug.optional().meta({ description: 'Only the one of this slug' }),
  includeBody: z.boolean().optional().meta({
    description: 'true: all texts; false: none; absent: those up to 4 KiB',
  }),
  ...page,
};
const example = {
  slug: 'review',
  title: 'Review a story',
  body: 'Read the spec of {{storyKey}} and say what is missing.',
  arguments: [{ name: 'storyKey', description: 'Such as WEB-42', required: true }],
};

export const prompts = {
  org: {
    upsert: operation({
      name: 'prompts.org.upsert',
      effect: 'write',
      idempotent: true,
      summary: 'Write a prompt of the organization',
      keywords: 'save template instructions guidelines create edit',
      description: `Makes it, or replaces the one of this slug as its next version; the same content changes nothing. Every project has it, but for those with a prompt of their own under that slug.`,
      access: org('admin'),
      params: z.strictObject(draft),
      result: z.object({ prompt: Prompt }),
      refusals: ['version_mismatch'],
      emits: ['prompt.created', 'prompt.updated'],
      bodyLimit: largeBodyLimit,
      example,
    }),
    delete: operation({
      name: 'prompts.org.delete',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: 'Delete a prompt of the organization',
      keywords: 'remove template instructions guidelines',
      description: `Prompts that projects have of their own under that slug stay.`,
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
      description: `By slug. Texts of more than 4 KiB are left out (body is null, bodyBytes says how long it is) unless includeBody is true or one slug is asked for.`,
      access: org('viewer'),
      params: z.strictObject(listed),
      result: pageOf(Prompt),
      example: {},
    }),
  },
  project: {
    upsert: operation({
      name: 'prompts.project.upsert',
      effect: 'write',
      idempotent: true,
      summary: 'Write a prompt of a project',
      keywords: 'save template instructions guidelines create edit',
      description: `Makes it, or replaces the one of this slug as its next version; the same content changes nothing. In this project it hides the organization's prompt of that slug.`,
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, ...draft }),
      result: z.object({ prompt: Prompt }),
      refusals: ['version_mismatch', 'archived'],
      emits: ['prompt.created', 'prompt.updated'],
      bodyLimit: largeBodyLimit,
      example: { projectId: 'WEB', ...example },
    }),
    delete: operation({
      name: 'prompts.project.delete',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: 'Delete a prompt of a project',
      keywords: 'remove template instructions guidelines',
      description: `The organization's prompt of that slug, if there is one, shows again.`,
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
      description: `By slug. Texts of more than 4 KiB are left out (body is null, bodyBytes says how long it is) unless includeBody is true or one slug is asked for. With effective, those of the organization too, but for the slugs that the project has a prompt of its own for: what a member who works there gets.`,
      access: project('viewer'),
      params: z.strictObject({ projectId: ProjectRef, effective: z.boolean().default(false), ...listed }),
      result: pageOf(Prompt),
      example: { projectId: 'WEB', effective: true },
    }),
  },
};
