/** The parameters of the address of the usage page. */
import { type UsageGrouping } from '@muster/contract';

export const usageRanges = [7, 30, 90, 365] as const;

const usageGroupings: readonly UsageGrouping[] = [
  ...(['project', 'epic', 'story', 'agent', 'member', 'model', 'day', 'week'] as const),
];

export interface UsageSearch {
  readonly by?: UsageGrouping;
  /** The number of days up to today. */
  readonly days?: number;
  /** The key of a project. */
  readonly project?: string;
  readonly story?: string;
  readonly agent?: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

export function parseUsageSearch({ by, days, project, story, agent }: Record<string, unknown>): UsageSearch {
  const grouping = usageGroupings.find((one) => one === by);
  const range = usageRanges.find((one) => one === days);
  return {
    ...(grouping !== undefined && { by: grouping }),
    ...(range !== undefined && { days: range }),
    ...(isText(project) && { project: project.toUpperCase() }),
    ...(isText(story) && { story: story.toUpperCase() }),
    ...(isText(agent) && { agent }),
  };
}
