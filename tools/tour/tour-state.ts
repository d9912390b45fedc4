import { type Story } from '@muster/registry';
import { type BoardFile } from '@muster/board-file';
import { type Check } from './check.ts';
import { type Journal } from './journal.ts';
import { type Team } from './team.ts';

/** What a story must look like at the end, by the writes that were acknowledged. Status and place: see the activity. */
export type StoryTruth = Pick<Story, 'title' | 'labels' | 'epicId' | 'estimate' | 'priority' | 'blockedBy'>;

export interface SpecTruth {
  readonly version: number;
  readonly content: string;
}

export interface CommentTruth {
  readonly id: string;
  readonly storyId: string;
  readonly parentId: string | null;
  body: string | null;
  readonly mentions: readonly string[];
  resolved: boolean;
  /** Emoji → the members who gave it. */
  readonly reactions: Map<string, Set<string>>;
}

/** One tour: what it works on and what it knows. */
export interface Tour {
  readonly board: BoardFile;
  readonly team: Team;
  readonly journal: Journal;
  readonly projectId: string;
  /** Ids by the file's localId. */
  readonly storyIds: ReadonlyMap<string, string>;
  readonly epicIds: ReadonlyMap<string, string>;
  readonly stories: Map<string, StoryTruth>;
  /** The newest version of each spec. */
  readonly specs: Map<string, SpecTruth>;
  readonly comments: Map<string, CommentTruth>;
  /** What steps found out while they were at it. */
  readonly checks: Check[];
}

/** Part of the tour. `run` answers a line that says what happened. */
export interface Step {
  readonly name: string;
  readonly run: (tour: Tour) => Promise<string>;
}

/** Notes a story that was created, from its answer. */
export function noteStory(
  tour: Tour,
  { id, title, labels, epicId, estimate, priority, blockedBy }: Story,
): void {
  tour.stories.set(id, { title, labels, epicId, estimate, priority, blockedBy });
}

export function truthOf(tour: Tour, storyId: string): StoryTruth {
  const truth = tour.stories.get(storyId);
  if (truth === undefined) throw new Error(`the tour does not know the story ${storyId}`);
  return truth;
}

/** Notes fields of a story that were changed with success. */
export function noteChange(tour: Tour, storyId: string, change: Partial<StoryTruth>): void {
  tour.stories.set(storyId, { ...truthOf(tour, storyId), ...change });
}
