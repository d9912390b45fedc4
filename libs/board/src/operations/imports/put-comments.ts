/** The comments of a put, under the stories that are there. */
import { type Actor, type ImportItem } from '@muster/registry';
import { type CommentRow, comments } from '../../data/comments.ts';
import { type CommentPlace, findCommentPlaces, idAt, lockComments } from '../../data/import-board.ts';
import { itemKey, type ItemRow, type NotedItem } from '../../data/imports.ts';
import { hashOf } from '../../rules/import-merge.ts';
import { type Issue } from '../../rules/import-plan.ts';
import { type Meeting, type Placed } from './put-stories.ts';

type ItemComment = NonNullable<ImportItem['comments']>[number];

/** Trackers count comments each in its own way: some in each story from 1. */
const commentKey = (
  { externalId }: Pick<ImportItem, 'externalId'>,
  comment: { readonly externalId: string },
) => JSON.stringify([externalId, comment.externalId]);

/** Of the comments of an item, and of those that they reply to: an earlier put may have brought them. */
export const commentKeysOf = (item: ImportItem): string[] => [
  ...new Set(
    (item.comments ?? [])
      .flatMap(({ externalId, parent }) => [externalId, ...(parent === undefined ? [] : [parent])])
      .map((externalId) => commentKey(item, { externalId })),
  ),
];

interface PutComments {
  readonly notes: readonly NotedItem[];
  /** By the external id of the story's item. */
  readonly issues: ReadonlyMap<string, Issue[]>;
  /** External ids of items of which a comment was written. */
  readonly written: ReadonlySet<string>;
}

/** A comment of an item whose story is there. */
interface Wanted extends Placed {
  readonly comment: ItemComment;
  readonly key: string;
  readonly hash: Buffer;
}

/** A put in progress: what it was read from, and what it will write. */
interface Put extends Meeting {
  /** Comments that were put before, by their ids. */
  readonly there: ReadonlyMap<string, CommentPlace>;
  /** Those of them that this put may write, by their ids. */
  readonly locked: ReadonlyMap<string, CommentRow>;
  /** Keys of the comments before. */
  readonly seen: Set<string>;
  /** By their keys. */
  readonly made: Map<string, CommentRow>;
  readonly notes: NotedItem[];
  readonly issues: Map<string, Issue[]>;
  readonly written: Set<string>;
}

const hashOfComment = ({ authorName, authorEmail, body, at, parent }: ItemComment): Buffer =>
  hashOf([authorName, authorEmail ?? null, body, at, parent ?? null]);

export async function putComments(meeting: Meeting, placed: readonly Placed[]): Promise<PutComments> {
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
    ...{ notes: [], issues: new Map<string, Issue[]>(), written: new Set() },
  };

  // Replies come after what they reply to.
  const inOrder = [...all].sort((a, b) => Date.parse(a.comment.at) - Date.parse(b.comment.at));
  for (const wanted of inOrder) putOne(put, wanted);

  const { made, notes, issues, written } = put;
  for (const insert of comments.insertAll([...made.values()])) db.later(insert);
  return { notes, issues, written };
}

/** Comments that the put may change or reply to. Those that come unchanged, usually all, are not locked. */
function idsToLock({ noted }: Meeting, all: readonly Wanted[]): ReadonlySet<string> {
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

/** Decides what becomes of a comment, and has it written. */
function putOne(put: Put, wanted: Wanted): void {
  const { noted, seen } = put;
  const { key } = wanted;
  if (seen.has(key)) {
    complain(put, wanted, 'A comment before it has the same externalId.');
    return;
  }
  seen.add(key);
  const known = noted.get(itemKey('comment', key));
  if (known === undefined || isElsewhere(put, wanted, known)) create(put, wanted);
  else update(put, wanted, known);
}

/** The comment hangs on a story that the item was before, or went with it. */
function isElsewhere({ there }: Put, { storyId, isNew }: Wanted, known: ItemRow): boolean {
  const row = there.get(known.record_id);
  return row === undefined ? isNew : row.story_id !== storyId;
}

/** Where the item says something else than it did, and the comment is as it was put. */
function update(put: Put, wanted: Wanted, known: ItemRow): void {
  const { db, at, locked } = put;
  const { comment, hash } = wanted;
  const row = locked.get(known.record_id);
  const isSame = known.source_hash?.equals(hash) === true;
  if (isSame || row === undefined || row.version !== known.record_version || row.body === comment.body)
    return;
  const after = comments.save(db, row, { body: comment.body }, at);
  note(put, wanted, after, false);
}

function create(put: Put, wanted: Wanted): void {
  const { at, made } = put;
  const { storyId, comment, key } = wanted;
  const parentId = comment.parent === undefined ? null : rootOf(put, wanted, comment.parent);
  if (parentId === undefined) complain(put, wanted, 'What it replies to is not there; it stands by itself.');
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

/** An author who is not known as a member stays as a name; the comment then belongs to the importer. */
function authorOf(
  { caller, authors }: Meeting,
  { authorName, authorEmail }: ItemComment,
): { actor: Actor; memberId: string } {
  const member = authorEmail === undefined ? undefined : authors.get(authorEmail.toLowerCase());
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

/** The root of the thread that a reply belongs to; undefined where the comment that it replies to is not there. */
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

/** Notes which record a comment became, and that something was written for its item. */
function note(
  { notes, written }: Put,
  { item, key, hash }: Wanted,
  { id: recordId, version }: CommentRow,
  isMade: boolean,
): void {
  notes.push({ kind: 'comment', externalId: key, recordId, isMade, hash, version, blockedBy: [] });
  written.add(item.externalId);
}
