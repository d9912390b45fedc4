/** Reactions to comments: one per member and emoji, whoever of the member and their agents gave it. */
import { type Db, query, type Query, sqlQuery } from '@muster/database';
import { type Reaction } from './comments.ts';

/** SQL for the reactions `x` as `viewer`, an expression, sees them. */
export const reactionColumns = (viewer: string): string =>
  `x.emoji, count(*)::int as count, bool_or(x.member_id = ${viewer}) as mine`;

/** The reactions to a comment, in the order of their emojis. */
export const listReactions = (
  db: Db,
  orgId: string,
  memberId: string,
  commentId: string,
): Promise<Reaction[]> =>
  db.all(
    sqlQuery<Reaction>(
      `select ${reactionColumns('$2')} from comment_reactions x
       where x.org_id = $1 and x.comment_id = $3 group by x.emoji order by x.emoji`,
      [orgId, memberId, commentId],
    ),
  );

interface Given {
  readonly commentId: string;
  readonly memberId: string;
  readonly emoji: string;
  readonly at: string;
}

export const insertReaction = (orgId: string, { commentId, memberId, emoji, at }: Given): Query<unknown> =>
  query
    .insertInto('comment_reactions')
    .values({ org_id: orgId, comment_id: commentId, member_id: memberId, emoji, created_at: at });

export const deleteReaction = (orgId: string, { commentId, memberId, emoji }: Given): Query<unknown> =>
  query
    .deleteFrom('comment_reactions')
    .where('org_id', '=', orgId)
    .where('comment_id', '=', commentId)
    .where('emoji', '=', emoji)
    .where('member_id', '=', memberId);

/** What nobody can see any more has no reactions either. */
export const deleteReactions = (orgId: string, commentId: string): Query<unknown> =>
  query.deleteFrom('comment_reactions').where('org_id', '=', orgId).where('comment_id', '=', commentId);
