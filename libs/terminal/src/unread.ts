/** Handles a standard output whose reader has closed the pipe. */

const isClosedPipeError = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';

const exitOnClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (isClosedPipeError(error)) process.exit(0);
  throw error;
};

/**
 * Ends this process with exit code 0 as soon as the reader of its output has closed the pipe. A reader such
 * as `head` that reads only the start of a list is no failure.
 */
export function exitWhenOutputCloses(output: NodeJS.WriteStream): void {
  output.on('error', exitOnClosedPipe);
}

/**
 * Lets the process continue when the reader of its output has closed the pipe, because the exit code still
 * matters. Calls `onUnread` in that case.
 */
export function continueWhenOutputCloses(
  output: NodeJS.WriteStream,
  onUnread: () => void = () => undefined,
): void {
  output.off('error', exitOnClosedPipe).on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosedPipeError(error)) throw error;
    onUnread();
  });
}
