/**
 * The event stream of the console. It passes events to their listeners, and publishes the connection state.
 * The windows of a browser share one stream, because a member may have few streams and a browser few
 * connections. The window that holds a browser lock reads the stream and forwards it to the others.
 */
import { isRefusal, type Streamed, UnauthorizedError } from '@muster/client';
import { type Event } from '@muster/contract';
import { type ConsoleSession } from './session.ts';
import { serverNow } from './time.ts';
import { runWithBrowserLock } from './turns.ts';

export type StreamConnection =
  | { readonly state: 'opening' | 'live' }
  | { readonly state: 'lost'; readonly since: number }
  /** The member already has the maximum number of streams, in other browsers. */
  | { readonly state: 'crowded' };

export interface StreamHandlers {
  readonly onEvent: (event: Event) => void;
  /** Called after events were missed that are no longer stored; everything on the page must be refetched. */
  readonly onResync: () => void;
  readonly onNotification: () => void;
  readonly onUnreadCount: (count: number) => void;
  /**
   * Called when the API rejects the credentials. Resolves to true if the session has ended for good, which
   * stops the stream.
   */
  readonly onSignedOut: () => Promise<boolean>;
}

export interface LiveConnection {
  readonly connection: () => StreamConnection;
  readonly subscribe: (changed: () => void) => () => void;
  readonly stop: () => void;
}

/** Messages between windows. */
type WindowMessage =
  | { readonly type: 'streamed'; readonly streamed: Streamed }
  /** From the window with the stream: its connection state. */
  | { readonly type: 'wire'; readonly wire: StreamConnection }
  /** From another window: a request for the connection state. */
  | { readonly type: 'asked' }
  /** The API rejected the credentials: each window checks whether the session has ended. */
  | { readonly type: 'unknown' };

/** Delay before a stream that ended is opened again. */
const reconnectDelayMs = 2_000;
/**
 * The delay before a window reconnects after the server closed its stream in favor of a newer one of the
 * member. Reconnecting would in turn close another stream.
 */
const replacedReconnectDelayMs = 60_000;
/**
 * Interval at which a visible window checks that the one with the stream is alive, and the timeout for its
 * response.
 */
const leaderCheckIntervalMs = 20_000;
const leaderTimeoutMs = 8_000;

/** The shared state and functions of this window, whether it reads the stream or gets messages. */
interface WindowState {
  readonly session: ConsoleSession;
  readonly handlers: StreamHandlers;
  connection: StreamConnection;
  /** The cursor of the last received event. */
  cursor: string;
  /** True if this window reads the stream. */
  isLeader: boolean;
  readonly broadcast: (told: WindowMessage) => void;
  readonly setConnection: (next: StreamConnection) => void;
  /** Stops the stream in all windows if the session has ended for good; resolves to true in that case. */
  readonly stopIfSignedOut: () => Promise<boolean>;
}

export function startLiveConnection(session: ConsoleSession, handlers: StreamHandlers): LiveConnection {
  const name = `muster.stream.${session.streamSharingKey}`;
  const stopping = new AbortController();
  const { signal } = stopping;
  const watchers = new Set<() => void>();
  const channel = new BroadcastChannel(name);
  const stop = (): void => {
    stopping.abort();
    follower.stopWaiting();
    clearInterval(asking);
    channel.close();
  };
  const tell = (told: WindowMessage): void => {
    if (!signal.aborted) channel.postMessage(told);
  };
  const station: WindowState = {
    ...{ session, handlers, broadcast: tell, cursor: session.cursor },
    connection: { state: 'opening' },
    isLeader: false,
    setConnection: (wire) => {
      if (wire.state === station.connection.state) return;
      station.connection = wire;
      for (const changed of watchers) changed();
      if (station.isLeader) tell({ type: 'wire', wire });
    },
    stopIfSignedOut: async () => {
      const isSo = await handlers.onSignedOut();
      if (isSo) stop();
      return isSo;
    },
  };
  const follower = createFollower(station, () => turns.stealLock());
  const askIfSeen = (): void => {
    if (!document.hidden) follower.checkLeader();
  };

  channel.addEventListener('message', follower.handleMessage);
  document.addEventListener('visibilitychange', askIfSeen, { signal });
  document.addEventListener('resume', follower.resume, { signal });
  globalThis.addEventListener(
    'pageshow',
    ({ persisted }) => {
      if (persisted) follower.resume();
    },
    { signal },
  );
  const asking = setInterval(askIfSeen, leaderCheckIntervalMs);
  const turns = runWithBrowserLock(name, signal, async (turn) => {
    follower.stopWaiting();
    await readStreamAsLeader(station, turn);
    if (!signal.aborted) follower.resume();
  });
  follower.checkLeader();

  return {
    connection: () => station.connection,
    subscribe: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    stop,
  };
}

function dispatchStreamed(
  streamed: Streamed,
  { onEvent, onResync, onNotification, onUnreadCount }: StreamHandlers,
): void {
  if (streamed.type === 'event') onEvent(streamed.event);
  else if (streamed.type === 'resync') onResync();
  else if (streamed.type === 'notification') onNotification();
  else if (streamed.type === 'unread') onUnreadCount(streamed.unread);
}

/** Reads the stream in this window until the signal aborts. */
async function readStreamAsLeader(windowState: WindowState, signal: AbortSignal): Promise<void> {
  const { broadcast, setConnection, stopIfSignedOut } = windowState;
  windowState.isLeader = true;
  // Other windows may be waiting for the connection state, so send it to them.
  broadcast({ type: 'wire', wire: windowState.connection });
  while (!signal.aborted) {
    try {
      await readStream(windowState, signal);
    } catch (error) {
      if (error instanceof UnauthorizedError) {
        broadcast({ type: 'unknown' });
        setConnection({ state: 'lost', since: serverNow() });
        if (await stopIfSignedOut()) return;
      }
      const isReplaced = isRefusal(error, 'stream_replaced');
      setConnection(isReplaced ? { state: 'crowded' } : { state: 'lost', since: serverNow() });
      await new Promise((resolve) =>
        setTimeout(resolve, isReplaced ? replacedReconnectDelayMs : reconnectDelayMs),
      );
    }
  }
  windowState.isLeader = false;
}

async function readStream(windowState: WindowState, signal: AbortSignal): Promise<void> {
  const { session, handlers, broadcast, setConnection, cursor } = windowState;
  const wish = {
    ...{ after: cursor, signal },
    onOpen: () => setConnection({ state: 'live' }),
    onRetry: (failure: unknown) =>
      setConnection(
        isRefusal(failure, 'too_many_waiting') ? { state: 'crowded' } : { state: 'lost', since: serverNow() },
      ),
  };
  for await (const streamed of session.stream(wish)) {
    broadcast({ type: 'streamed', streamed });
    if (streamed.type === 'event') windowState.cursor = streamed.event.cursor;
    dispatchStreamed(streamed, handlers);
  }
}

interface Follower {
  /** Handles a message from another window. */
  readonly handleMessage: (message: MessageEvent<WindowMessage>) => void;
  /**
   * Asks the window with the stream for its state. If it does not respond, this window takes over the stream.
   */
  readonly checkLeader: () => void;
  /** Stops waiting for a response. */
  readonly stopWaiting: () => void;
  /** Called when a suspended window resumes, because it may have missed messages. */
  readonly resume: () => void;
}

/** Creates the part of a window that receives messages while another window reads the stream. */
function createFollower(windowState: WindowState, becomeLeader: () => void): Follower {
  const { handlers, broadcast, setConnection, stopIfSignedOut } = windowState;
  /** True once this window has fetched the events that were emitted before it began to listen for messages. */
  let isCaughtUp = false;
  let catching: Promise<void> | undefined;
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => clearTimeout(unanswered);
  const ask = (): void => {
    if (windowState.isLeader) return;
    broadcast({ type: 'asked' });
    rest();
    unanswered = setTimeout(becomeLeader, leaderTimeoutMs);
  };

  /** Fetches missed events; later ones arrive as messages. */
  const catchUp = async (): Promise<void> => {
    const cursor = await fetchMissedEvents(windowState);
    if (windowState.isLeader) return;
    windowState.cursor = cursor;
    isCaughtUp = true;
  };
  const hearWire = async (theirs: StreamConnection): Promise<void> => {
    if (!isCaughtUp)
      await (catching ??= catchUp().finally(() => {
        catching = undefined;
      }));
    if (!windowState.isLeader) setConnection(theirs);
  };

  return {
    ...{ checkLeader: ask, stopWaiting: rest },
    resume: () => {
      isCaughtUp = false;
      ask();
    },
    handleMessage: ({ data: told }) => {
      if (windowState.isLeader) {
        if (told.type === 'asked') broadcast({ type: 'wire', wire: windowState.connection });
        return;
      }
      if (told.type === 'asked') return;
      rest();
      if (told.type === 'unknown') void stopIfSignedOut();
      else if (told.type === 'wire')
        // If fetching the missed events fails, the next message about the connection state fetches them
        // again.
        hearWire(told.wire).catch((error: unknown) => {
          if (error instanceof UnauthorizedError) void stopIfSignedOut();
          else setConnection({ state: 'lost', since: serverNow() });
        });
      else {
        dispatchStreamed(told.streamed, handlers);
        if (told.streamed.type === 'event' && isCaughtUp) windowState.cursor = told.streamed.event.cursor;
      }
    },
  };
}

/** Fetches the events after the cursor of this window's state, and returns the cursor of the last event. */
async function fetchMissedEvents({ session, handlers, cursor }: WindowState): Promise<string> {
  const { events } = session.client;
  let after = cursor;
  try {
    for (;;) {
      const page = await events.list({ after });
      page.items.forEach(handlers.onEvent);
      if (page.items.length === 0) return page.cursor;
      after = page.cursor;
    }
  } catch (error) {
    if (!isRefusal(error, 'resync')) throw error;
    const { cursor: latest } = await events.list({ after: 'latest', limit: 1 });
    handlers.onResync();
    return latest;
  }
}
