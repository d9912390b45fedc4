/** Returns the exit code of a command, which fails with `false` or an error. Prints the message of the error. */
export const exitCodeOf = (command: Promise<unknown>): Promise<number> =>
  command.then(
    (succeeded) => (succeeded === false ? 1 : 0),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    },
  );
