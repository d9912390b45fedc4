/** Ends this process, with 0, once what it prints is read no more: to read only the start of a list, as `head` does, is no failure. */
export function endWhenUnread(output: NodeJS.WriteStream): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}
