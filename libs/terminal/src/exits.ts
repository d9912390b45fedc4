/** Exit codes that scripts rely on; README and --help state the same ones. */
export const exitCodes = {
  /** An operators' command that the database or its rules refused. */
  failed: 1,
  /** The command line cannot be understood, or something that it names does not exist. */
  usage: 2,
  /** The API refused: any 4xx. */
  refused: 3,
  /** There was no answer, or any 5xx. */
  unreachable: 4,
} as const;

/** The command cannot run with these arguments or in this directory. */
export class UsageError extends Error {}
