/** What a tracker says of an item, in the tracker's own words, before it is brought into the limits of the contract. */
import { type ImportItem, type StoryStatus } from '@muster/registry';

export interface DraftComment {
  /** Missing where the tracker gives none: then author and time stand for it. */
  readonly externalId?: string | undefined;
  readonly author: string | undefined;
  readonly email?: string | undefined;
  readonly body: string;
  readonly at: string | undefined;
  readonly parent?: string | undefined;
}

export interface Draft {
  /** Where it stands, for people: `line 3`, `issue 17`. */
  readonly place: string;
  /** Missing where the file gives none: then what it says stands for it. */
  readonly externalId: string | undefined;
  readonly url?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  readonly spec?: string | undefined;
  /** What the tracker calls it. */
  readonly status?: string | undefined;
  /** What the tracker itself says that the status is; it counts before the words that the status has. */
  readonly statusIs?: StoryStatus | undefined;
  /** What it may be where its words are not known. */
  readonly statusHint?: StoryStatus | undefined;
  readonly priority?: string | undefined;
  readonly labels?: readonly string[];
  readonly estimate?: string | number | undefined;
  readonly epic?:
    | { readonly externalId: string; readonly title: string; readonly targetDate?: string | undefined }
    | undefined;
  readonly blockedBy?: readonly string[];
  /** Names or addresses. A story has one; the first who is known by an address is taken. */
  readonly assignees?: readonly string[];
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly comments?: readonly DraftComment[];
  /** What the item has that a story has no place for: `Sprint`, `2 attachments`. */
  readonly leftOut?: readonly string[];
}

/** What a format reads: items, and what of the file is none. */
export type Read = { readonly draft: Draft } | { readonly place: string; readonly skipped: string };

/** An item as `imports.put` takes it, but for its comments, of which there may be more than one put takes. */
export interface FileItem extends Omit<ImportItem, 'comments'> {
  readonly comments: NonNullable<ImportItem['comments']>;
}

export type Entry =
  | {
      readonly kind: 'item';
      readonly place: string;
      readonly item: FileItem;
      readonly notes: readonly string[];
    }
  /** It cannot become a story: it has no title, or its status has no place on the board. */
  | {
      readonly kind: 'refused';
      readonly place: string;
      readonly why: string;
      readonly for: 'status' | 'item';
    }
  /** It is not meant to: a pull request, a draft, an epic. */
  | { readonly kind: 'skipped'; readonly place: string; readonly why: string };

/** What a format opens: its items, each time anew, and what of the file as a whole is left out. */
export interface Opened {
  readonly read: () => AsyncIterable<Read>;
  readonly notes: readonly string[];
}

export interface ReadOptions {
  /** Of CSV: which column is which field. */
  readonly map?: ReadonlyMap<string, string>;
  /** Of CSV, Plane and Trello: a name that keeps ids apart from those of another tracker. */
  readonly source?: string | undefined;
  /** Of Jira: the address of the site, to which stories link back. */
  readonly site?: string | undefined;
}
