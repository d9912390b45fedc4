/**
 * The stream of events, as the console hears it: what it says goes to those who asked, and its state to all. The windows of a
 * browser share one: the window whose turn it is has it and tells the others, since a member has few streams, and a browser few
 * connections.
 */
import { isRefusal, type Streamed, UnauthorizedError } from '@muster/client';
import { type Event } from '@muster/registry';
import { type Session } from './session.ts';
import { timeNow } from './time.ts';
import { takeTurns } from './turns.ts';

export type Wire =
  | { readonly state: 'opening' | 'live' }
  | { readonly state: 'lost'; readonly since: number }
  /** The member has as many streams as there may be, in other browsers. */
  | { readonly state: 'crowded' };

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

/** What windows tell each other. */
type Told =
  | { readonly type: 'streamed'; readonly streamed: Streamed }
  /** Of the window that has the stream: how it is. */
  | { readonly type: 'wire'; readonly wire: Wire }
  /** Of any other: how is it? */
  | { readonly type: 'asked' }
  /** The API did not know who is looking: each looks whether that is so for good. */
  | { readonly type: 'unknown' };

/** Where the stream ends for good, so much later it is begun anew. */
const againMillis = 2_000;
/** A window that is looked at asks so often whether the one with the stream is there, and waits so long for its answer. */
const askMillis = 20_000;
const answerMillis = 8_000;

export function startLive(session: Session, heard: Heard): Live {
  const stopping = new AbortController();
  const watchers = new Set<() => void>();
  const channel = new BroadcastChannel(`muster.stream.${session.audience}`);
  let wire: Wire = { state: 'opening' };
  let cursor = session.cursor;
  let isMine = false;
  /** Of a window that is told: whether it has read what happened before it listened. */
  let isCaughtUp = false;
  let catching: Promise<void> | undefined;
  let unanswered: ReturnType<typeof setTimeout> | undefined;

  const tell = (told: Told): void => {
    if (!stopping.signal.aborted) channel.postMessage(told);
  };
  const become = (next: Wire): void => {
    if (next.state === wire.state) return;
    wire = next;
    for (const changed of watchers) changed();
    if (isMine) tell({ type: 'wire', wire });
  };
  const hear = (streamed: Streamed): void => {
    if (streamed.type === 'event') heard.event(streamed.event);
    else if (streamed.type === 'resync') heard.resync();
    else if (streamed.type === 'notification') heard.notification();
    else heard.unread(streamed.unread);
  };
  const stop = (): void => {
    stopping.abort();
    clearTimeout(unanswered);
    clearInterval(asking);
    channel.close();
    document.removeEventListener('visibilitychange', askIfSeen);
    document.removeEventListener('resume', comeBack);
    globalThis.removeEventListener('pageshow', comeBackIfKept);
  };

  const isOver = async (): Promise<boolean> => {
    const isSo = await heard.signedOut();
    if (isSo) stop();
    return isSo;
  };

  async function follow(signal: AbortSignal): Promise<void> {
    const wish = {
      ...{ after: cursor, signal },
      onOpen: () => become({ state: 'live' }),
      onRetry: (failure: unknown) =>
        become(
          isRefusal(failure, 'too_many_waiting') ? { state: 'crowded' } : { state: 'lost', since: timeNow() },
        ),
    };
    for await (const streamed of session.stream(wish)) {
      tell({ type: 'streamed', streamed });
      if (streamed.type === 'event') ({ cursor } = streamed.event);
      hear(streamed);
    }
  }

  /** This window has the stream, until the signal. */
  async function lead(signal: AbortSignal): Promise<void> {
    isMine = true;
    clearTimeout(unanswered);
    // Windows that wait for an answer have one.
    tell({ type: 'wire', wire });
    while (!signal.aborted) {
      try {
        await follow(signal);
      } catch (error) {
        if (error instanceof UnauthorizedError) {
          tell({ type: 'unknown' });
          if (await isOver()) return;
        }
        become({ state: 'lost', since: timeNow() });
        await new Promise((resolve) => setTimeout(resolve, againMillis));
      }
    }
    isMine = false;
    if (!stopping.signal.aborted) comeBack();
  }

  /** What happened after this window's cursor: all that comes later it is told. */
  async function catchUp(): Promise<void> {
    const { events } = session.client;
    let after = cursor;
    try {
      for (;;) {
        const page = await events.list({ after });
        page.items.forEach(heard.event);
        after = page.cursor;
        if (page.items.length === 0) break;
      }
    } catch (error) {
      if (!isRefusal(error, 'resync')) throw error;
      after = (await events.list({ after: 'latest', limit: 1 })).cursor;
      heard.resync();
    }
    if (isMine) return;
    cursor = after;
    isCaughtUp = true;
  }

  const hearWire = async (theirs: Wire): Promise<void> => {
    if (!isCaughtUp)
      await (catching ??= catchUp().finally(() => {
        catching = undefined;
      }));
    if (!isMine) become(theirs);
  };

  function hearTold({ data: told }: MessageEvent<Told>): void {
    if (isMine) {
      if (told.type === 'asked') tell({ type: 'wire', wire });
      return;
    }
    if (told.type === 'asked') return;
    clearTimeout(unanswered);
    if (told.type === 'unknown') void isOver();
    else if (told.type === 'wire')
      // One that could not catch up tries again when it is told the next time.
      hearWire(told.wire).catch((error: unknown) => {
        if (error instanceof UnauthorizedError) void isOver();
        else become({ state: 'lost', since: timeNow() });
      });
    else {
      hear(told.streamed);
      if (told.streamed.type === 'event' && isCaughtUp) ({ cursor } = told.streamed.event);
    }
  }

  const ask = (): void => {
    if (isMine) return;
    tell({ type: 'asked' });
    clearTimeout(unanswered);
    unanswered = setTimeout(turns.take, answerMillis);
  };
  function askIfSeen(): void {
    if (!document.hidden) ask();
  }
  /** A window that was put to sleep may not have been told all. */
  function comeBack(): void {
    isCaughtUp = false;
    ask();
  }
  function comeBackIfKept({ persisted }: PageTransitionEvent): void {
    if (persisted) comeBack();
  }

  channel.addEventListener('message', hearTold);
  document.addEventListener('visibilitychange', askIfSeen);
  document.addEventListener('resume', comeBack);
  globalThis.addEventListener('pageshow', comeBackIfKept);
  const asking = setInterval(askIfSeen, askMillis);
  const turns = takeTurns(`muster.stream.${session.audience}`, stopping.signal, lead);
  ask();

  return {
    wire: () => wire,
    subscribe: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    stop,
  };
}
