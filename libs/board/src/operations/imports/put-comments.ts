/** The comments of a put, under the stories that are there. */
import { type Actor, type ImportItem, type ImportResult } from '@muster/registry';
import { type CommentRow, comments } from '../../data/comments.ts';
import { idAt, lockComments } from '../../data/import-board.ts';
import { itemKey, type NotedItem } from '../../data/imports.ts';
import { hashOf } from '../../rules/import-merge.ts';
import { type Meeting, type Placed } from './put-stories.ts';

type ItemComment = NonNullable<ImportItem['comments']>[number];
type Issue = ImportResult['issues'][number];

/** Trackers count comments each in its own way: some in each story from 1. */
export const commentKey = (
  { externalId }: Pick<ImportItem, 'externalId'>,
  comment: { readonly externalId: string },
) => JSON.stringify([externalId, comment.externalId]);

interface PutComments {
  readonly notes: readonly NotedItem[];
  /** By the external id of the story's item. */
  readonly issues: ReadonlyMap<string, Issue[]>;
  /** External ids of items of which a comment was written. */
  readonly written: ReadonlySet<string>;
}

export async function putComments(meeting: Meeting, placed: readonly Placed[]): Promise<PutComments> {
  const { db, caller, at, noted, members } = meeting;
  const all = placed.flatMap(({ item, storyId }) =>
    (item.comments ?? []).map((comment) => ({ item, storyId, comment, key: commentKey(item, comment) })),
  );
  const ids = all.flatMap(({ key }) => noted.get(itemKey('comment', key))?.record_id ?? []);
  const there = ids.length === 0 ? new Map<string, CommentRow>() : await lockComments(db, ids);
  const made = new Map<string, CommentRow>();
  const notes: NotedItem[] = [];
  const issues = new Map<string, Issue[]>();
  const written = new Set<string>();
  const seen = new Set<string>();

  /** Those who are no members stand as names, and belong to the member who brings them in. */
  const authorOf = ({ authorName, authorEmail }: ItemComment): { actor: Actor; memberId: string } => {
    const member = authorEmail === undefined ? undefined : members.get(authorEmail.toLowerCase());
    return member === undefined
      ? {
          actor: { kind: 'member', memberId: null, agentId: null, name: authorName },
          memberId: caller.memberId,
        }
      : {
          actor: { kind: 'member', memberId: member.id, agentId: null, name: member.name },
          memberId: member.id,
        };
  };
  const rootOf = (item: ImportItem, parent: string): string | undefined => {
    const key = commentKey(item, { externalId: parent });
    const found = made.get(key) ?? there.get(noted.get(itemKey('comment', key))?.record_id ?? '');
    return found === undefined ? undefined : (found.parent_id ?? found.id);
  };
  const complain = (item: ImportItem, index: number, message: string): void => {
    const list = issues.get(item.externalId) ?? [];
    list.push({ path: `comments.${index}`, message });
    issues.set(item.externalId, list);
  };

  // Replies come after what they reply to.
  const inOrder = [...all].sort((a, b) => Date.parse(a.comment.at) - Date.parse(b.comment.at));
  for (const { item, storyId, comment, key } of inOrder) {
    const index = item.comments?.indexOf(comment) ?? 0;
    if (seen.has(key)) {
      complain(item, index, 'A comment before it has the same externalId.');
      continue;
    }
    seen.add(key);
    const known = noted.get(itemKey('comment', key));
    const hash = hashOf([
      comment.authorName,
      comment.authorEmail ?? null,
      comment.body,
      comment.at,
      comment.parent ?? null,
    ]);
    const note = (recordId: string, version: number, isMade: boolean): void => {
      notes.push({ kind: 'comment', externalId: key, recordId, isMade, hash, version, blockedBy: [] });
    };
    if (known !== undefined) {
      const row = there.get(known.record_id);
      const isSame = known.source_hash?.equals(hash) === true;
      if (isSame || row === undefined || row.version !== known.record_version || row.body === comment.body)
        continue;
      const after = comments.save(db, row, { body: comment.body }, at);
      note(row.id, after.version, false);
      written.add(item.externalId);
      continue;
    }
    const parentId = comment.parent === undefined ? null : rootOf(item, comment.parent);
    if (parentId === undefined)
      complain(item, index, 'What it replies to is not there; it stands by itself.');
    const { actor, memberId } = authorOf(comment);
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
        },
        at,
      ),
      created_at: comment.at,
    };
    made.set(key, row);
    note(row.id, row.version, true);
    written.add(item.externalId);
  }
  if (made.size > 0) db.later(comments.insertAll([...made.values()]));
  return { notes, issues, written };
}
