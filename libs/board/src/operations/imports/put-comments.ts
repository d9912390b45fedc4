/** Writes the comments of those items in a call of imports.put that have stories. */
import { type Actor, type ImportItem } from '@muster/registry';
import { type CommentRow, comments } from '../../data/comments.ts';
import { type CommentPlace, findCommentPlaces, idAt, lockComments } from '../../data/import-board.ts';
import { itemKey, type ItemRow, type NotedItem } from '../../data/imports.ts';
import { hashOf } from '../../rules/import-merge.ts';
import { type ImportIssue } from '../../rules/import-plan.ts';
import { type ImportBatch, type Placed } from './put-stories.ts';

type ItemComment = NonNullable<ImportItem['comments']>[number];

/**
 * Returns the key of a comment within the tracker. It contains the ID of the item, because some trackers
 * number the comments of each issue from 1.
 */
const commentKey = (
  { externalId }: Pick<ImportItem, 'externalId'>,
  comment: { readonly externalId: string },
) => JSON.stringify([externalId, comment.externalId]);

/**
 * Returns the keys of an item's comments and of the comments to which they reply. With these keys the caller
 * finds the comments that earlier puts wrote.
 */
export const commentKeysOf = (item: ImportItem): string[] => [
  ...new Set(
    (item.comments ?? [])
      .flatMap(({ externalId, parent }) => [externalId, ...(parent === undefined ? [] : [parent])])
      .map((externalId) => commentKey(item, { externalId })),
  ),
];

interface PutComments {
  readonly notes: readonly NotedItem[];
  /** The problems with comments, by the external ID of the comment's item. */
  readonly issues: ReadonlyMap<string, ImportIssue[]>;
  /** The external IDs of the items for which the put wrote a comment. */
  readonly written: ReadonlySet<string>;
}

/** A comment from the file whose item has a story. */
interface Wanted extends Placed {
  readonly comment: ItemComment;
  readonly key: string;
  readonly hash: Buffer;
}

/** A call of imports.put in progress: the data that it has read, and the rows that it will write. */
interface Put extends ImportBatch {
  /** The stored comments that earlier puts wrote, by record ID. */
  readonly there: ReadonlyMap<string, CommentPlace>;
  /** The locked comments, which this put may change or reply to, by record ID. */
  readonly locked: ReadonlyMap<string, CommentRow>;
  /** The keys of the comments that this put has processed so far. */
  readonly seen: Set<string>;
  /** The comments that this put creates, by key. */
  readonly made: Map<string, CommentRow>;
  readonly notes: NotedItem[];
  readonly issues: Map<string, ImportIssue[]>;
  readonly written: Set<string>;
}

const hashOfComment = ({ authorName, authorEmail, body, at, parent }: ItemComment): Buffer =>
  hashOf([authorName, authorEmail ?? null, body, at, parent ?? null]);

export async function putComments(meeting: ImportBatch, placed: readonly Placed[]): Promise<PutComments> {
  const { db, noted } = meeting;
  const all = placed.flatMap(({ item, storyId, isNew }) =>
    (item.comments ?? []).map((comment): Wanted => ({
      ...{ item, storyId, isNew, comment },
      key: commentKey(item, comment),
      hash: hashOfComment(comment),
    })),
  );
  const lockedIds = idsToLock(meeting, all);
  const otherIds = [...noted.values()].flatMap(({ kind, record_id: id }) =>
    kind === 'comment' && !lockedIds.has(id) ? id : [],
  );
  const [locked, others] = await Promise.all([
    lockComments(db, [...lockedIds]),
    findCommentPlaces(db, otherIds),
  ]);
  const there = new Map<string, CommentPlace>([...others, ...locked]);
  const put: Put = {
    ...{ ...meeting, there, locked, seen: new Set(), made: new Map<string, CommentRow>() },
    ...{ notes: [], issues: new Map<string, ImportIssue[]>(), written: new Set() },
  };

  // The comments are written in the order of their times, so that each reply comes after the comment to which
  // it replies.
  const inOrder = [...all].sort((a, b) => Date.parse(a.comment.at) - Date.parse(b.comment.at));
  for (const wanted of inOrder) putOne(put, wanted);

  const { made, notes, issues, written } = put;
  for (const insert of comments.insertAll([...made.values()])) db.later(insert);
  return { notes, issues, written };
}

/**
 * Returns the IDs of the comments that the put may change or reply to. A comment that has not changed in the
 * source is not locked. Most comments have not changed.
 */
function idsToLock({ noted }: ImportBatch, all: readonly Wanted[]): ReadonlySet<string> {
  return new Set(
    all.flatMap(({ item, comment, key, hash, isNew }) => {
      const known = noted.get(itemKey('comment', key));
      if (!isNew && known?.source_hash?.equals(hash) === true) return [];
      const parent =
        comment.parent === undefined
          ? undefined
          : noted.get(itemKey('comment', commentKey(item, { externalId: comment.parent })));
      return [known, parent].flatMap((one) => one?.record_id ?? []);
    }),
  );
}

/** Decides whether a comment is created, updated or left unchanged, and requests the write. */
function putOne(put: Put, wanted: Wanted): void {
  const { noted, seen } = put;
  const { key } = wanted;
  if (seen.has(key)) {
    complain(put, wanted, 'An earlier comment has the same externalId.');
    return;
  }
  seen.add(key);
  const known = noted.get(itemKey('comment', key));
  if (known === undefined || isElsewhere(put, wanted, known)) create(put, wanted);
  else update(put, wanted, known);
}

/**
 * Reports whether the stored comment belongs to a story that its item had before, or was deleted together
 * with that story.
 */
function isElsewhere({ there }: Put, { storyId, isNew }: Wanted, known: ItemRow): boolean {
  const row = there.get(known.record_id);
  return row === undefined ? isNew : row.story_id !== storyId;
}

/**
 * Updates a comment if its text changed in the source and no one changed the comment here since the last
 * import.
 */
function update(put: Put, wanted: Wanted, known: ItemRow): void {
  const { db, at, caller, locked, writesForMembers } = put;
  const { comment, hash } = wanted;
  const row = locked.get(known.record_id);
  const isSame = known.source_hash?.equals(hash) === true;
  if (isSame || row === undefined || row.version !== known.record_version || row.body === comment.body)
    return;
  if (!writesForMembers && row.author.memberId !== null) {
    complain(put, wanted, 'Only an admin may change a comment of a member.');
    return;
  }
  const after = comments.save(db, row, { body: comment.body, imported_by: caller.actor }, at);
  note(put, wanted, after, false);
}

function create(put: Put, wanted: Wanted): void {
  const { at, made } = put;
  const { storyId, comment, key } = wanted;
  const parentId = comment.parent === undefined ? null : rootOf(put, wanted, comment.parent);
  if (parentId === undefined)
    complain(put, wanted, 'The comment it replies to was not imported, so it became a separate thread.');
  const { actor, memberId } = authorOf(put, comment);
  const row: CommentRow = {
    ...comments.make(
      {
        ...{
          id: idAt(comment.at),
          storyId,
          parentId: parentId ?? null,
          kind: 'comment',
          body: comment.body,
        },
        ...{ author: actor, authorMemberId: memberId, mentions: [], told: [] },
        ...{ importedBy: put.caller.actor, importedFrom: put.current.provider },
      },
      at,
    ),
    created_at: comment.at,
  };
  made.set(key, row);
  note(put, wanted, row, true);
}

/**
 * Returns the author of an imported comment. An author who is not a known member is stored by name only. The
 * comment then belongs to the importing member.
 */
function authorOf(
  { caller, members, writesForMembers }: ImportBatch,
  { authorName, authorEmail }: ItemComment,
): { actor: Actor; memberId: string } {
  const member =
    authorEmail !== undefined && writesForMembers ? members.get(authorEmail.toLowerCase()) : undefined;
  return member === undefined
    ? {
        actor: { kind: 'member', memberId: null, agentId: null, name: authorName },
        memberId: caller.memberId,
      }
    : {
        actor: { kind: 'member', memberId: member.id, agentId: null, name: member.name },
        memberId: member.id,
      };
}

/**
 * Returns the ID of the root of the thread that a reply belongs to. Returns undefined if the comment to which
 * it replies does not exist on the same story.
 */
function rootOf({ made, there, noted }: Put, { item, storyId }: Wanted, parent: string): string | undefined {
  const key = commentKey(item, { externalId: parent });
  const found = made.get(key) ?? there.get(noted.get(itemKey('comment', key))?.record_id ?? '');
  return found?.story_id === storyId ? (found.parent_id ?? found.id) : undefined;
}

function complain({ issues }: Put, { item, comment }: Wanted, message: string): void {
  const index = item.comments?.indexOf(comment) ?? 0;
  const list = issues.get(item.externalId) ?? [];
  list.push({ path: `comments.${index}`, message });
  issues.set(item.externalId, list);
}

/**
 * Notes the record of a comment, its version, and the hash of the source's content. Records that something
 * was written for the comment's item.
 */
function note(
  { notes, written }: Put,
  { item, key, hash }: Wanted,
  { id: recordId, version }: CommentRow,
  isMade: boolean,
): void {
  notes.push({ kind: 'comment', externalId: key, recordId, isMade, hash, version, blockedBy: [] });
  written.add(item.externalId);
}
