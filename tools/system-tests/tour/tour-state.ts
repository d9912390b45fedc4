import { type Story, type StorySummary } from '@muster/contract';
import { type BoardFile } from '@muster/import-files/board-file';
import { type TourTeam, type Teammate } from './team.ts';

/** Fields of a story after the last acknowledged write. */
type ExpectedStory = Pick<
  Story,
  'title' | 'status' | 'labels' | 'epicId' | 'estimate' | 'priority' | 'blockedBy'
>;

export interface ExpectedComment {
  readonly id: string;
  readonly storyId: string;
  readonly parentId: string | null;
  body: string | null;
  readonly mentions: readonly string[];
  resolved: boolean;
  /** The number of members who gave each emoji. */
  readonly reactions: Map<string, number>;
}

/** The project of the morning, with its expected content at the end. */
export interface Tour {
  readonly board: BoardFile;
  readonly team: TourTeam;
  readonly projectId: string;
  /** The ID of each story, by its localId in the board file. */
  readonly storyIds: ReadonlyMap<string, string>;
  readonly stories: Map<string, ExpectedStory>;
  /** The only version of each spec by the ID of its story. */
  readonly specs: Map<string, string>;
  readonly comments: Map<string, ExpectedComment>;
}

/** A step of the tour's morning. `run` returns a line with the step's result. */
export interface TourStep {
  readonly name: string;
  readonly run: (tour: Tour) => Promise<string>;
}

export const truthOf = ({
  title,
  status,
  labels,
  epicId,
  estimate,
  priority,
  blockedBy,
}: ExpectedStory): ExpectedStory => ({ title, status, labels, epicId, estimate, priority, blockedBy });

/** Remembers the story that a write returned. */
export function noteStory({ stories }: Tour, story: Story): void {
  stories.set(story.id, truthOf(story));
}

export const listStories = ({ api }: Teammate, projectId: string): Promise<StorySummary[]> =>
  Array.fromAsync(api.stories.list.all({ projectId, sort: 'board', limit: 200 }));
