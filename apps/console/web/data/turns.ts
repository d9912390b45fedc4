/**
 * Lets one window of the browser at a time do some work. That window holds a browser lock (Web Locks), which
 * passes to another window when the window closes. Without Web Locks, as on a page without TLS, every window
 * does the work itself.
 */

export interface BrowserLockHandle {
  /** Takes the browser lock away from a window that does not respond. */
  readonly stealLock: () => void;
}

/**
 * Runs `work` whenever this window holds the browser lock. Aborts the signal of `work` if another window
 * takes the lock. Ends when `stopping` is aborted.
 */
export function runWithBrowserLock(
  lockName: string,
  stopSignal: AbortSignal,
  work: (turn: AbortSignal) => Promise<void>,
): BrowserLockHandle {
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) {
    void work(stopSignal);
    return { stealLock: () => undefined };
  }
  let waiting = new AbortController();
  let takes = false;
  const go = async (): Promise<void> => {
    while (!stopSignal.aborted) {
      waiting = new AbortController();
      const turn = new AbortController();
      const options = takes ? { steal: true } : { signal: AbortSignal.any([stopSignal, waiting.signal]) };
      takes = false;
      try {
        await locks.request(lockName, options, () => work(AbortSignal.any([stopSignal, turn.signal])));
      } catch {
        // Waiting was aborted, or another window took the turn.
      }
      turn.abort();
    }
  };
  void go();
  return {
    stealLock: () => {
      takes = true;
      waiting.abort();
    },
  };
}
