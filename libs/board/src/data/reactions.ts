/** Reactions to comments: one per member and emoji, made by the member or by an agent of the member. */
import { type Db, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type CommentReaction } from './comments.ts';

/** Returns SQL for the reactions `x` as the viewer sees them. `viewer` is an SQL expression. */
export const reactionColumns = (viewer: Part): Part =>
  sql.part`x.emoji, count(*)::int as count, bool_or(x.member_id = ${viewer}) as mine`;

/** Lists the reactions to a comment, ordered by emoji. */
export const listReactions = (db: Db, memberId: string, commentId: string): Promise<CommentReaction[]> =>
  db.all(
    sql<CommentReaction>`select ${reactionColumns(sql.part`${memberId}`)} from comment_reactions x
       where ${orgFilter('x')} and x.comment_id = ${commentId} group by x.emoji order by x.emoji`,
  );

interface MemberReaction {
  readonly commentId: string;
  readonly memberId: string;
  readonly emoji: string;
  readonly at: string;
}

export const insertReaction = ({ commentId, memberId, emoji, at }: MemberReaction): Query<unknown> =>
  sql`insert into comment_reactions (org_id, comment_id, member_id, emoji, created_at) values (${currentOrgId}, ${commentId}, ${memberId}, ${emoji}, ${at})`;

export const deleteReaction = ({ commentId, memberId, emoji }: MemberReaction): Query<unknown> =>
  sql`delete from comment_reactions where ${orgFilter()} and comment_id = ${commentId} and emoji = ${emoji} and member_id = ${memberId}`;

/** Deletes the reactions of a comment that no member can see any more. */
export const deleteReactions = (commentId: string): Query<unknown> =>
  sql`delete from comment_reactions where ${orgFilter()} and comment_id = ${commentId}`;
