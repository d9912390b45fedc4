/**
 * Decides who may change a comment. A member may change comments of its agents; an agent may not change those
 * of other agents.
 */

interface CommentAuthor {
  readonly memberId: string | null;
  readonly agentId: string | null;
}

export const isAuthor = (author: CommentAuthor, caller: CommentAuthor): boolean =>
  author.memberId === caller.memberId && (caller.agentId === null || caller.agentId === author.agentId);
