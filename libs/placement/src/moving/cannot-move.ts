/** The move cannot be made as things are; the message says why. */
export class CannotMove extends Error {}
