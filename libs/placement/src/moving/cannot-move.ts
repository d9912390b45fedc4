/** Reports that the move is impossible under the current conditions; the message gives the reason. */
export class CannotMoveError extends Error {}
