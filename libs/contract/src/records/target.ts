/** A record of one of several kinds, named by two parameters. */
import { z } from 'zod';
import { isUuid, StoryRef } from '../kernel/values.ts';

export const targetTypes = ['story', 'epic', 'delivery_group'] as const;
export const TargetType = z.enum(targetTypes);
export type TargetType = z.infer<typeof TargetType>;

export const TargetRef = StoryRef.meta({
  description: "The target's id; for a story, its key such as WEB-42 works too",
  maxLength: 2048,
  'x-muster-ref': 'story',
});

/**
 * Returns true if the id can name this kind of target: only stories have keys. Used with `refine`, whose
 * error follows.
 */
export const isTargetRef = (params: {
  readonly targetType: TargetType;
  readonly targetId: string;
}): boolean => params.targetType === 'story' || isUuid(params.targetId);
export const targetIdIssue = { error: 'must be an id, because only stories have keys', path: ['targetId'] };
