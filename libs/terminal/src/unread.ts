/** What a program prints, once the one who read it is gone. */

const isUnread = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';

const end = (error: NodeJS.ErrnoException): void => {
  if (isUnread(error)) process.exit(0);
  throw error;
};

/** Ends this process, with 0, once what it prints is read no more: to read only the start of a list, as `head` does, is no failure. */
export function endWhenUnread(output: NodeJS.WriteStream): void {
  output.on('error', end);
}

/** Goes on to an end of its own, whose code counts, once this is read no more. */
export function goOnUnread(output: NodeJS.WriteStream, onUnread: () => void = () => undefined): void {
  output.off('error', end).on('error', (error: NodeJS.ErrnoException) => {
    if (!isUnread(error)) throw error;
    onUnread();
  });
}
