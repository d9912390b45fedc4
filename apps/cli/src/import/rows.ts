/** What a file says of stories, whatever its format. */
import { type registry } from '@muster/registry';
import { type z } from 'zod';

export type NewStory = Omit<z.input<typeof registry.stories.create.params>, 'projectId'>;

/** Of whichever tracker it comes; it is what makes an import that is repeated skip it. */
export interface Origin {
  readonly provider: 'github' | 'other';
  readonly externalId: string;
  readonly url?: string;
  readonly state?: string;
}

/** One story to be made. */
export interface Row {
  /** Where it stands, for people: `issue 17`, `line 3`. */
  readonly place: string;
  readonly story: NewStory;
  readonly origin: Origin | undefined;
}

export interface Source {
  readonly rows: readonly Row[];
  /** What was seen and left out. */
  readonly notes: readonly string[];
}

type Status = NonNullable<NewStory['status']>;

const statusWords: Readonly<Record<Status, readonly string[]>> = {
  backlog: ['backlog', 'open', 'new', 'triage', 'icebox', 'later'],
  ready: ['ready', 'todo', 'to do', 'selected', 'next', 'planned'],
  in_progress: ['in progress', 'doing', 'started', 'active', 'wip'],
  in_review: ['in review', 'review', 'reviewing', 'testing'],
  done: ['done', 'closed', 'resolved', 'completed', 'finished', 'merged'],
  canceled: ['canceled', 'cancelled', 'wontfix', "won't do", 'not planned', 'rejected'],
};

/** A status as other trackers write it; as it stands where nobody knows it, for the contract to refuse. */
export function statusOf(text: string): Status {
  const word = text.trim().toLowerCase().replaceAll(/[_-]+/g, ' ');
  const [known] = Object.entries(statusWords).find(([, words]) => words.includes(word)) ?? [text];
  return known as Status;
}
