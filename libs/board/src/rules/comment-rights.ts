/** Who may change a comment: an agent's is also its member's, but not another agent's. */

interface Author {
  readonly memberId: string | null;
  readonly agentId: string | null;
}

export const isAuthor = (author: Author, caller: Author): boolean =>
  author.memberId === caller.memberId && (caller.agentId === null || caller.agentId === author.agentId);
