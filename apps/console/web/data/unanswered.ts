/**
 * Tracks requests without a response. If the API accepts requests and never responds, the viewer can send
 * them again.
 */
const unansweredRequests = new Set<AbortController>();

/** True while the page is being left. The browser then cancels requests, except those that may outlive the page. */
let isLeavingPage = false;
globalThis.addEventListener('pagehide', () => (isLeavingPage = true));
globalThis.addEventListener('pageshow', () => (isLeavingPage = false));

/**
 * Works like `fetch`, but sends the same request again when `resendUnansweredRequests` is called before a response
 * arrives. Repeating a write is safe, because it carries an idempotency key.
 */
export async function resendableFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const attempt = new AbortController();
    unansweredRequests.add(attempt);
    try {
      const signals = [attempt.signal, init.signal].filter((signal) => signal != null);
      return await fetch(input, { ...init, keepalive: isLeavingPage, signal: AbortSignal.any(signals) });
    } catch (error) {
      if (!attempt.signal.aborted || init.signal?.aborted === true) throw error;
    } finally {
      unansweredRequests.delete(attempt);
    }
  }
}

export function resendUnansweredRequests(): void {
  for (const attempt of unansweredRequests) attempt.abort();
}
