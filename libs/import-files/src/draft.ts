/** An item in the words of its tracker, before it is fitted to the limits of the contract. */
import { type ImportItem, type StoryStatus } from '@muster/contract';

export interface DraftComment {
  /**
   * The ID of the comment in its tracker; undefined if the tracker gives none. Author and time then identify
   * the comment.
   */
  readonly externalId?: string | undefined;
  readonly author: string | undefined;
  readonly email?: string | undefined;
  readonly body: string;
  readonly at: string | undefined;
  readonly parent?: string | undefined;
}

export interface ImportDraft {
  /** The position in the file, as shown to users: `line 3`, `issue 17`. */
  readonly place: string;
  /**
   * The ID of the item in its tracker; undefined if the file has none. The contents then identify the item.
   */
  readonly externalId: string | undefined;
  readonly url?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  readonly spec?: string | undefined;
  /** The name of the status in the tracker. */
  readonly status?: string | undefined;
  /** The status that the tracker itself specifies. It takes precedence over the name of the status. */
  readonly statusIs?: StoryStatus | undefined;
  /** The status to use if the name is unknown. */
  readonly statusHint?: StoryStatus | undefined;
  readonly priority?: string | undefined;
  readonly labels?: readonly string[];
  readonly estimate?: string | number | undefined;
  readonly dueDate?: string | undefined;
  readonly touches?: readonly string[] | undefined;
  /** The ID of the item that this one is a part of. It has no parent itself. */
  readonly parent?: string | undefined;
  readonly epic?:
    | { readonly externalId: string; readonly title: string; readonly targetDate?: string | undefined }
    | undefined;
  readonly blockedBy?: readonly string[];
  /**
   * The names or addresses of the assignees. A story has one assignee: the first one with a known address.
   */
  readonly assignees?: readonly string[];
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly comments?: readonly DraftComment[];
  /** Parts of the item that a story cannot store, such as `Sprint` or `2 attachments`. */
  readonly unimportedFields?: readonly string[];
}

/** A result of reading: an item, or a part of the file that is not an item. */
export type ParsedItem =
  | { readonly draft: ImportDraft }
  | { readonly place: string; readonly skipped: string };

/** An item as `imports.put` takes it, except that the number of its comments is not limited. */
export interface FileItem extends Omit<ImportItem, 'comments'> {
  readonly comments: NonNullable<ImportItem['comments']>;
}

export type ImportEntry =
  | {
      readonly kind: 'item';
      readonly place: string;
      readonly item: FileItem;
      readonly notes: readonly string[];
    }
  /** The item cannot become a story: it has no title, or its status has no column on the board. */
  | {
      readonly kind: 'refused';
      readonly place: string;
      readonly why: string;
      readonly refusedPart: 'status' | 'item';
    }
  /** The item is not imported by design: a pull request, a draft, an epic. */
  | { readonly kind: 'skipped'; readonly place: string; readonly why: string };

/**
 * An opened file of a format: a reader that starts again with each call, and notes about the parts of the
 * file that are left out.
 */
export interface OpenedFile {
  readonly read: () => AsyncIterable<ParsedItem>;
  readonly notes: readonly string[];
}

export interface ReadOptions {
  /** The column of each field, for CSV. */
  readonly columnMapping?: ReadonlyMap<string, string>;
  /** A name that distinguishes ids from those of another tracker, for CSV, Plane and Trello. */
  readonly sourceName?: string | undefined;
  /** The address of the site to which stories link back, for Jira. */
  readonly siteUrl?: string | undefined;
}
