/** The stream of events, as the console hears it: what it says goes to those who asked, and its state to all. */
import { UnauthorizedError } from '@muster/client';
import { type Event } from '@muster/registry';
import { type Session } from './session.ts';

export type Wire =
  { readonly state: 'opening' | 'live' } | { readonly state: 'lost'; readonly since: number };

export interface Heard {
  readonly event: (event: Event) => void;
  /** Events were missed that are no longer kept: whatever is on the page is read anew. */
  readonly resync: () => void;
  readonly notification: () => void;
  readonly unread: (count: number) => void;
  /** The API does not know who is looking any more. True where that is so for good, and the stream is over. */
  readonly signedOut: () => Promise<boolean>;
}

export interface Live {
  readonly wire: () => Wire;
  readonly subscribe: (changed: () => void) => () => void;
  readonly stop: () => void;
}

/** Where the stream ends for good, so much later it is begun anew. */
const againMillis = 2_000;

export function startLive(session: Session, heard: Heard): Live {
  const stopping = new AbortController();
  const watchers = new Set<() => void>();
  let wire: Wire = { state: 'opening' };
  let cursor = session.cursor;
  const become = (next: Wire): void => {
    if (next.state === wire.state) return;
    wire = next;
    for (const changed of watchers) changed();
  };
  const lose = (): void => {
    become({ state: 'lost', since: Date.now() });
  };

  async function follow(): Promise<void> {
    const wish = {
      after: cursor,
      signal: stopping.signal,
      onOpen: () => become({ state: 'live' }),
      onRetry: lose,
    };
    for await (const streamed of session.stream(wish)) {
      if (streamed.type === 'event') {
        cursor = streamed.event.cursor;
        heard.event(streamed.event);
      } else if (streamed.type === 'resync') heard.resync();
      else if (streamed.type === 'notification') heard.notification();
      else heard.unread(streamed.unread);
    }
  }

  async function goOn(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (error instanceof UnauthorizedError && (await heard.signedOut())) return;
        lose();
        await new Promise((resolve) => setTimeout(resolve, againMillis));
      }
    }
  }
  void goOn();

  return {
    wire: () => wire,
    subscribe: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    stop: () => stopping.abort(),
  };
}
