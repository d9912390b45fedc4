import { z } from 'zod';
import {
  project,
  bulkBodyLimitBytes,
  operation,
  pageParams,
  pageSchemaOf,
  Id,
  ProjectRef,
  maxPlanEpics,
  maxPlanItems,
  PlanCriticalPath,
  PlanRef,
  PlanWaves,
  StoryPlan,
  StoryPlanChange,
  StoryPlanEntry,
  StoryPlanEpic,
  StoryPlanEpicChange,
  StoryPlanItem,
} from '@muster/contract';

const hasUniqueRefs = (items: readonly { readonly ref: string }[]): boolean =>
  new Set(items.map(({ ref }) => ref)).size === items.length;

export const plans = {
  apply: operation({
    name: 'plans.apply',
    effect: 'write',
    idempotent: true,
    summary: 'Create or update many stories from a plan',
    keywords:
      'bulk batch tasks breakdown decompose spec-kit kiro dependencies graph declarative diff preview',
    description:
      'All or nothing. An item is recognized by its ref, so a plan can be applied again: omitted fields keep their values, null clears. A field that was changed on the board since the plan last set it stays, and is listed in kept. A change of status must pass the checks of stories.updateStatus; otherwise the status stays. Refs of earlier calls remain in the plan, unless prune is true: then their stories are canceled, except those that someone works on. A preview answers the same and writes nothing. New stories start in backlog or ready. dependsOn and parentRef take refs of the plan, and ids or keys of stories.',
    access: project('contributor'),
    bodyLimit: bulkBodyLimitBytes,
    params: z.strictObject({
      projectId: ProjectRef,
      planRef: PlanRef,
      items: z.array(StoryPlanItem).max(maxPlanItems).refine(hasUniqueRefs, 'must name each ref once'),
      epics: z
        .array(StoryPlanEpic)
        .max(maxPlanEpics)
        .refine(hasUniqueRefs, 'must name each ref once')
        .default([]),
      mode: z.enum(['preview', 'apply']).default('apply'),
      prune: z.boolean().default(false),
    }),
    result: z.object({
      plan: z.object({
        id: Id.nullable().describe('null in the preview of a new plan'),
        ref: z.string(),
        version: z.int().min(0).describe('0 in the preview of a new plan'),
      }),
      changes: z.array(StoryPlanChange),
      epics: z.array(StoryPlanEpicChange),
      waves: PlanWaves,
      criticalPath: PlanCriticalPath,
    }),
    refusals: [
      ...(['archived', 'mismatched_project', 'dependency_cycle', 'nested_parent', 'has_children'] as const),
      ...(['limit_exceeded', 'wip_limit', 'invalid_transition', 'policy'] as const),
    ],
    emits: [
      ...(['epic.created', 'epic.updated', 'story.created', 'story.updated', 'story.statusChanged'] as const),
      ...(['story.reordered', 'spec.updated', 'execution.completed', 'story.unblocked'] as const),
    ],
    example: {
      projectId: 'WEB',
      planRef: 'sign-in',
      items: [
        { ref: 'T001', title: 'Store passkeys', estimate: 3 },
        { ref: 'T002', title: 'Sign in with a passkey', dependsOn: ['T001'] },
      ],
    },
  }),
  get: operation({
    name: 'plans.get',
    effect: 'read',
    summary: 'Get a plan with its stories, waves and progress',
    keywords: 'tasks breakdown order dependencies critical path parallel progress',
    description:
      'Name the plan by planId, or by projectId and planRef. waves and criticalPath contain open stories; canceled stories do not count in progress.',
    access: project('viewer'),
    alternativeTarget: 'planId',
    params: z
      .strictObject({ projectId: ProjectRef.optional(), planRef: PlanRef.optional(), planId: Id.optional() })
      .refine(
        ({ projectId, planRef, planId }) =>
          planId !== undefined || (projectId !== undefined && planRef !== undefined),
        {
          error: 'give planId, or projectId and planRef',
          path: ['planId'],
        },
      ),
    result: z.object({
      plan: StoryPlan,
      items: z.array(StoryPlanEntry),
      waves: PlanWaves,
      criticalPath: PlanCriticalPath,
      progress: z.object({ total: z.int(), done: z.int() }),
    }),
    example: { projectId: 'WEB', planRef: 'launch' },
  }),
  list: operation({
    name: 'plans.list',
    effect: 'read',
    summary: 'List the plans of a project',
    keywords: 'tasks breakdown',
    description: 'Newest first. plans.get returns the items of a plan.',
    access: project('viewer'),
    params: z.strictObject({ projectId: ProjectRef, ...pageParams }),
    result: pageSchemaOf(StoryPlan),
    example: { projectId: 'WEB' },
  }),
};
