/** Plans: stories that are described together, with their order, and applied as often as the plan changes. */
import { z } from 'zod';
import { Day, Id, nameText, recordStamps, StoryRef } from '../kernel/values.ts';
import { Actor } from './member.ts';
import { Color, EpicTitle, StoryStatus } from './project.ts';
import { Estimate, Labels, Priority, SpecContent, StoryDescription, StoryTitle, Touches } from './story.ts';

/** The maximum number of stories in a plan, including those of earlier calls. */
export const maxPlanItems = 500;
/** The maximum number of epics in a plan, including those of earlier calls. */
export const maxPlanEpics = 100;

export const PlanRef = nameText(120);

/** A ref of the plan, or the id or key of a story of the project. It is normalized as a ref is. */
const StoryOrItemRef = nameText(2048);

/** Returns the id or key of a story if the text has such a form; undefined if it can only be an item's ref. */
export function parseStoryRef(text: string): string | undefined {
  const { data } = StoryRef.safeParse(text);
  return data;
}

export const StoryPlanEpic = z.strictObject({
  ref: PlanRef,
  title: EpicTitle,
  color: Color.nullish(),
  targetDate: Day.nullish(),
});
export type StoryPlanEpic = z.output<typeof StoryPlanEpic>;

export const StoryPlanItem = z.strictObject({
  ref: PlanRef,
  title: StoryTitle,
  description: StoryDescription.optional(),
  spec: SpecContent.optional(),
  status: StoryStatus.optional(),
  epicRef: PlanRef.nullish(),
  parentRef: StoryOrItemRef.nullish(),
  dependsOn: z.array(StoryOrItemRef).max(100).optional(),
  touches: Touches.optional(),
  estimate: Estimate.nullish(),
  priority: Priority.optional(),
  labels: Labels.optional(),
  dueDate: Day.nullish(),
});
export type StoryPlanItem = z.output<typeof StoryPlanItem>;

const planActions = ['create', 'update', 'unchanged', 'keep', 'remove'] as const;

/** The reasons why a plan leaves a value of the board as it is. */
const planKeepReasons = [
  ...(['changed', 'deleted', 'worked_on', 'new_story'] as const),
  ...(['invalid_transition', 'policy', 'wip_limit'] as const),
] as const;
export type PlanKeepReason = (typeof planKeepReasons)[number];

export const KeptField = z
  .object({
    field: z.string(),
    reason: z.enum(planKeepReasons),
    message: z.string(),
  })
  .meta({ id: 'KeptField' });
export type KeptField = z.infer<typeof KeptField>;

export const StoryPlanChange = z
  .object({
    ref: z.string(),
    action: z
      .enum(planActions)
      .describe(
        'keep: nothing was written, because kept lists what the board decides. remove: the ref is gone',
      ),
    storyId: Id.nullable().describe('null if the story was deleted, or would be created by a preview'),
    key: z.string().nullable(),
    fields: z.array(z.string()).describe('The fields that were written, or would be'),
    kept: z.array(KeptField).describe('The fields whose value on the board stays, with the reason'),
  })
  .meta({ id: 'StoryPlanChange' });
export type StoryPlanChange = z.infer<typeof StoryPlanChange>;

export const StoryPlanEpicChange = z
  .object({
    ref: z.string(),
    action: z.enum(planActions).describe('remove: the ref is gone, and the epic stays on the board'),
    epicId: Id.nullable(),
    fields: z.array(z.string()),
    kept: z.array(KeptField),
  })
  .meta({ id: 'StoryPlanEpicChange' });
export type StoryPlanEpicChange = z.infer<typeof StoryPlanEpicChange>;

export const StoryPlan = z
  .object({
    id: Id,
    projectId: Id,
    ref: z.string(),
    appliedBy: Actor.describe('The caller who last changed the plan'),
    ...recordStamps,
  })
  .meta({ id: 'StoryPlan' });
export type StoryPlan = z.infer<typeof StoryPlan>;

/** An item of a plan with the current state of its story. */
export const StoryPlanEntry = z
  .object({
    ref: z.string(),
    storyId: Id.nullable().describe('null if the story was deleted'),
    key: z.string().nullable(),
    title: z.string().nullable(),
    status: StoryStatus.nullable(),
    estimate: z.number().nullable(),
    dependsOn: z.array(z.string()).describe('The refs in the plan, or keys, of the stories it waits for'),
  })
  .meta({ id: 'StoryPlanEntry' });
export type StoryPlanEntry = z.infer<typeof StoryPlanEntry>;

export const PlanWaves = z
  .array(z.array(z.string()))
  .describe('The refs of open stories. Those of one wave can run at the same time, after the waves before');
export const PlanCriticalPath = z
  .array(z.string())
  .describe('The refs of the longest chain of open stories, by estimate; a missing estimate counts as 1');
