/**
 * Gives one window of the browser its turn at a time. It holds a browser lock (Web Locks), which passes to
 * another window when it closes. Without Web Locks, as on a page without TLS, every window has its own turn.
 */

export interface WindowTurns {
  /** Takes the turn from a window that does not respond. */
  readonly take: () => void;
}

/**
 * Runs the work during this window's turns. A turn that another window takes is aborted. Stops with the
 * signal.
 */
export function takeTurns(
  name: string,
  stopping: AbortSignal,
  work: (turn: AbortSignal) => Promise<void>,
): WindowTurns {
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) {
    void work(stopping);
    return { take: () => undefined };
  }
  let waiting = new AbortController();
  let takes = false;
  const go = async (): Promise<void> => {
    while (!stopping.aborted) {
      waiting = new AbortController();
      const turn = new AbortController();
      const options = takes ? { steal: true } : { signal: AbortSignal.any([stopping, waiting.signal]) };
      takes = false;
      try {
        await locks.request(name, options, () => work(AbortSignal.any([stopping, turn.signal])));
      } catch {
        // Waiting was aborted, or another window took the turn.
      }
      turn.abort();
    }
  };
  void go();
  return {
    take: () => {
      takes = true;
      waiting.abort();
    },
  };
}
