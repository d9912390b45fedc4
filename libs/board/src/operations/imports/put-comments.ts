/** Writes the comments of those items in a call of imports.put that have stories. */
import { type Actor, type ImportItem } from '@muster/contract';
import { type CommentRow, comments } from '../../data/comments.ts';
import {
  type CommentLocation,
  findCommentLocations,
  createIdForTime,
  lockComments,
} from '../../data/import-board.ts';
import { importItemKey, type ImportItemRow, type ImportedItem } from '../../data/imports.ts';
import { hashFields } from '../../rules/import-merge.ts';
import { type ImportIssue } from '../../rules/import-plan.ts';
import { type ImportBatch } from './import-batch.ts';
import { type ItemWithStory } from './put-stories.ts';

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

interface PutCommentsResult {
  readonly importedItems: readonly ImportedItem[];
  /** The problems with comments, by the external ID of the comment's item. */
  readonly issues: ReadonlyMap<string, ImportIssue[]>;
  /** The external IDs of the items for which the put wrote a comment. */
  readonly writtenKeys: ReadonlySet<string>;
}

/** A comment from the file whose item has a story. */
interface IncomingComment extends ItemWithStory {
  readonly comment: ItemComment;
  readonly key: string;
  readonly hash: Buffer;
}

/** A call of imports.put in progress: the data that it has read, and the rows that it will write. */
interface CommentPutState extends ImportBatch {
  /** The stored comments that earlier puts wrote, by record ID. */
  readonly existingComments: ReadonlyMap<string, CommentLocation>;
  /** The locked comments, which this put may change or reply to, by record ID. */
  readonly lockedComments: ReadonlyMap<string, CommentRow>;
  /** The keys of the comments that this put has processed so far. */
  readonly seenKeys: Set<string>;
  /** The comments that this put creates, by key. */
  readonly createdComments: Map<string, CommentRow>;
  readonly notes: ImportedItem[];
  readonly issues: Map<string, ImportIssue[]>;
  readonly written: Set<string>;
}

const hashComment = ({ authorName, authorEmail, body, at, parent }: ItemComment): Buffer =>
  hashFields([authorName, authorEmail ?? null, body, at, parent ?? null]);

export async function putComments(
  batch: ImportBatch,
  itemsWithStories: readonly ItemWithStory[],
): Promise<PutCommentsResult> {
  const { db, noted } = batch;
  const all = itemsWithStories.flatMap(({ item, storyId, isNew }) =>
    (item.comments ?? []).map((comment): IncomingComment => ({
      ...{ item, storyId, isNew, comment },
      key: commentKey(item, comment),
      hash: hashComment(comment),
    })),
  );
  const lockedIds = findCommentIdsToLock(batch, all);
  const otherIds = [...noted.values()].flatMap(({ kind, record_id: id }) =>
    kind === 'comment' && !lockedIds.has(id) ? id : [],
  );
  const [locked, others] = await Promise.all([
    lockComments(db, [...lockedIds]),
    findCommentLocations(db, otherIds),
  ]);
  const there = new Map<string, CommentLocation>([...others, ...locked]);
  const put: CommentPutState = {
    ...{
      ...batch,
      existingComments: there,
      lockedComments: locked,
      seenKeys: new Set(),
      createdComments: new Map<string, CommentRow>(),
    },
    ...{ notes: [], issues: new Map<string, ImportIssue[]>(), written: new Set() },
  };

  // The comments are written in the order of their times, so that each reply comes after the comment to which
  // it replies.
  const inOrder = [...all].sort((a, b) => Date.parse(a.comment.at) - Date.parse(b.comment.at));
  for (const wanted of inOrder) putComment(put, wanted);

  const { createdComments: made, notes, issues, written } = put;
  for (const insert of comments.insertAll([...made.values()])) db.deferToCommit(insert);
  return { importedItems: notes, issues, writtenKeys: written };
}

/**
 * Returns the IDs of the comments that the put may change or reply to. A comment that has not changed in the
 * source is not locked. Most comments have not changed.
 */
function findCommentIdsToLock(
  { noted }: ImportBatch,
  incomingComments: readonly IncomingComment[],
): ReadonlySet<string> {
  return new Set(
    incomingComments.flatMap(({ item, comment, key, hash, isNew }) => {
      const known = noted.get(importItemKey('comment', key));
      if (!isNew && known?.source_hash?.equals(hash) === true) return [];
      const parent =
        comment.parent === undefined
          ? undefined
          : noted.get(importItemKey('comment', commentKey(item, { externalId: comment.parent })));
      return [known, parent].flatMap((one) => one?.record_id ?? []);
    }),
  );
}

/** Decides whether a comment is created, updated or left unchanged, and requests the write. */
function putComment(state: CommentPutState, incomingComment: IncomingComment): void {
  const { noted, seenKeys: seen } = state;
  const { key } = incomingComment;
  if (seen.has(key)) {
    addIssue(state, incomingComment, 'An earlier comment has the same externalId.');
    return;
  }
  seen.add(key);
  const known = noted.get(importItemKey('comment', key));
  if (known === undefined || belongsToAnotherStory(state, incomingComment, known))
    createComment(state, incomingComment);
  else updateComment(state, incomingComment, known);
}

/**
 * Reports whether the stored comment belongs to a story that its item had before, or was deleted together
 * with that story.
 */
function belongsToAnotherStory(
  { existingComments: there }: CommentPutState,
  { storyId, isNew }: IncomingComment,
  existingItem: ImportItemRow,
): boolean {
  const row = there.get(existingItem.record_id);
  return row === undefined ? isNew : row.story_id !== storyId;
}

/**
 * Updates a comment if its text changed in the source and no one changed the comment here since the last
 * import.
 */
function updateComment(
  state: CommentPutState,
  incomingComment: IncomingComment,
  existingItem: ImportItemRow,
): void {
  const { db, at, caller, lockedComments: locked, writesForMembers } = state;
  const { comment, hash } = incomingComment;
  const row = locked.get(existingItem.record_id);
  const isSame = existingItem.source_hash?.equals(hash) === true;
  if (isSame || row === undefined || row.version !== existingItem.record_version || row.body === comment.body)
    return;
  if (!writesForMembers && row.author.memberId !== null) {
    addIssue(state, incomingComment, 'Only an admin may change a comment of a member.');
    return;
  }
  const after = comments.save(db, row, { body: comment.body, imported_by: caller.actor }, at);
  recordPutComment(state, incomingComment, after, false);
}

function createComment(state: CommentPutState, incomingComment: IncomingComment): void {
  const { at, createdComments: made } = state;
  const { storyId, comment, key } = incomingComment;
  const parentId =
    comment.parent === undefined ? null : findThreadRootId(state, incomingComment, comment.parent);
  if (parentId === undefined)
    addIssue(
      state,
      incomingComment,
      'The comment it replies to was not imported, so it became a separate thread.',
    );
  const { actor, memberId } = resolveAuthor(state, comment);
  const row: CommentRow = {
    ...comments.make(
      {
        id: createIdForTime(comment.at),
        storyId,
        parentId: parentId ?? null,
        kind: 'comment',
        body: comment.body,
        ...{
          author: actor,
          authorMemberId: memberId,
          mentions: [],
          agentMentions: [],
          told: [],
          options: [],
        },
        ...{ importedBy: state.caller.actor, importedFrom: state.current.provider },
      },
      at,
    ),
    created_at: comment.at,
  };
  made.set(key, row);
  recordPutComment(state, incomingComment, row, true);
}

/**
 * Returns the author of an imported comment. An author who is not a known member is stored by name only. The
 * comment then belongs to the importing member.
 */
function resolveAuthor(
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
function findThreadRootId(
  { createdComments: made, existingComments: there, noted }: CommentPutState,
  { item, storyId }: IncomingComment,
  parentExternalId: string,
): string | undefined {
  const key = commentKey(item, { externalId: parentExternalId });
  const found = made.get(key) ?? there.get(noted.get(importItemKey('comment', key))?.record_id ?? '');
  return found?.story_id === storyId ? (found.parent_id ?? found.id) : undefined;
}

function addIssue({ issues }: CommentPutState, { item, comment }: IncomingComment, message: string): void {
  const index = item.comments?.indexOf(comment) ?? 0;
  const list = issues.get(item.externalId) ?? [];
  list.push({ path: `comments.${index}`, message });
  issues.set(item.externalId, list);
}

/**
 * Notes the record of a comment, its version, and the hash of the source's content. Records that something
 * was written for the comment's item.
 */
function recordPutComment(
  { notes, written }: CommentPutState,
  { item, key, hash }: IncomingComment,
  { id: recordId, version }: CommentRow,
  isCreated: boolean,
): void {
  notes.push({
    kind: 'comment',
    externalId: key,
    recordId,
    isMade: isCreated,
    hash,
    version,
    blockedBy: [],
    parent: null,
  });
  written.add(item.externalId);
}
