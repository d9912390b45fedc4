/**
 * The event stream of the console. It passes events to their listeners, and publishes the connection state.
 * The windows of a browser share one stream, because a member may have few streams and a browser few
 * connections. The window that holds a browser lock reads the stream and forwards it to the others.
 */
import { isRefusal, type Streamed, UnauthorizedError } from '@muster/client';
import { type Event } from '@muster/registry';
import { type ConsoleSession } from './session.ts';
import { serverNow } from './time.ts';
import { takeTurns } from './turns.ts';

export type StreamConnection =
  | { readonly state: 'opening' | 'live' }
  | { readonly state: 'lost'; readonly since: number }
  /** The member already has the maximum number of streams, in other browsers. */
  | { readonly state: 'crowded' };

export interface StreamHandlers {
  readonly event: (event: Event) => void;
  /** Called after events were missed that are no longer stored; everything on the page must be refetched. */
  readonly resync: () => void;
  readonly notification: () => void;
  readonly unread: (count: number) => void;
  /**
   * Called when the API rejects the credentials. Resolves to true if the session has ended for good, which
   * stops the stream.
   */
  readonly signedOut: () => Promise<boolean>;
}

export interface LiveConnection {
  readonly wire: () => StreamConnection;
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
const replacedDelayMs = 60_000;
/**
 * Interval at which a visible window checks that the one with the stream is alive, and the timeout for its
 * response.
 */
const leaderCheckMs = 20_000;
const leaderTimeoutMs = 8_000;

/** The shared state and functions of this window, whether it reads the stream or gets messages. */
interface WindowState {
  readonly session: ConsoleSession;
  readonly heard: StreamHandlers;
  wire: StreamConnection;
  /** The cursor of the last received event. */
  cursor: string;
  /** True if this window reads the stream. */
  isMine: boolean;
  readonly tell: (told: WindowMessage) => void;
  readonly become: (next: StreamConnection) => void;
  /** Stops the stream in all windows if the session has ended for good; resolves to true in that case. */
  readonly isOver: () => Promise<boolean>;
}

export function startLive(session: ConsoleSession, heard: StreamHandlers): LiveConnection {
  const name = `muster.stream.${session.audience}`;
  const stopping = new AbortController();
  const { signal } = stopping;
  const watchers = new Set<() => void>();
  const channel = new BroadcastChannel(name);
  const stop = (): void => {
    stopping.abort();
    follower.rest();
    clearInterval(asking);
    channel.close();
  };
  const tell = (told: WindowMessage): void => {
    if (!signal.aborted) channel.postMessage(told);
  };
  const station: WindowState = {
    ...{ session, heard, tell, cursor: session.cursor },
    wire: { state: 'opening' },
    isMine: false,
    become: (wire) => {
      if (wire.state === station.wire.state) return;
      station.wire = wire;
      for (const changed of watchers) changed();
      if (station.isMine) tell({ type: 'wire', wire });
    },
    isOver: async () => {
      const isSo = await heard.signedOut();
      if (isSo) stop();
      return isSo;
    },
  };
  const follower = createFollower(station, () => turns.take());
  const askIfSeen = (): void => {
    if (!document.hidden) follower.ask();
  };

  channel.addEventListener('message', follower.hear);
  document.addEventListener('visibilitychange', askIfSeen, { signal });
  document.addEventListener('resume', follower.comeBack, { signal });
  globalThis.addEventListener(
    'pageshow',
    ({ persisted }) => {
      if (persisted) follower.comeBack();
    },
    { signal },
  );
  const asking = setInterval(askIfSeen, leaderCheckMs);
  const turns = takeTurns(name, signal, async (turn) => {
    follower.rest();
    await readStreamAsLeader(station, turn);
    if (!signal.aborted) follower.comeBack();
  });
  follower.ask();

  return {
    wire: () => station.wire,
    subscribe: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    stop,
  };
}

function handleStreamed(streamed: Streamed, { event, resync, notification, unread }: StreamHandlers): void {
  if (streamed.type === 'event') event(streamed.event);
  else if (streamed.type === 'resync') resync();
  else if (streamed.type === 'notification') notification();
  else unread(streamed.unread);
}

/** Reads the stream in this window until the signal aborts. */
async function readStreamAsLeader(station: WindowState, signal: AbortSignal): Promise<void> {
  const { tell, become, isOver } = station;
  station.isMine = true;
  // Other windows may be waiting for the connection state, so send it to them.
  tell({ type: 'wire', wire: station.wire });
  while (!signal.aborted) {
    try {
      await readStream(station, signal);
    } catch (error) {
      if (error instanceof UnauthorizedError) {
        tell({ type: 'unknown' });
        become({ state: 'lost', since: serverNow() });
        if (await isOver()) return;
      }
      const isReplaced = isRefusal(error, 'stream_replaced');
      become(isReplaced ? { state: 'crowded' } : { state: 'lost', since: serverNow() });
      await new Promise((resolve) => setTimeout(resolve, isReplaced ? replacedDelayMs : reconnectDelayMs));
    }
  }
  station.isMine = false;
}

async function readStream(station: WindowState, signal: AbortSignal): Promise<void> {
  const { session, heard, tell, become, cursor } = station;
  const wish = {
    ...{ after: cursor, signal },
    onOpen: () => become({ state: 'live' }),
    onRetry: (failure: unknown) =>
      become(
        isRefusal(failure, 'too_many_waiting') ? { state: 'crowded' } : { state: 'lost', since: serverNow() },
      ),
  };
  for await (const streamed of session.stream(wish)) {
    tell({ type: 'streamed', streamed });
    if (streamed.type === 'event') station.cursor = streamed.event.cursor;
    handleStreamed(streamed, heard);
  }
}

interface Follower {
  /** Handles a message from another window. */
  readonly hear: (message: MessageEvent<WindowMessage>) => void;
  /**
   * Asks the window with the stream for its state. If it does not respond, this window takes over the stream.
   */
  readonly ask: () => void;
  /** Stops waiting for a response. */
  readonly rest: () => void;
  /** Called when a suspended window resumes, because it may have missed messages. */
  readonly comeBack: () => void;
}

/** Creates the part of a window that receives messages while another window reads the stream. */
function createFollower(station: WindowState, takeTurn: () => void): Follower {
  const { heard, tell, become, isOver } = station;
  /** True once this window has fetched the events that were emitted before it began to listen for messages. */
  let isCaughtUp = false;
  let catching: Promise<void> | undefined;
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => clearTimeout(unanswered);
  const ask = (): void => {
    if (station.isMine) return;
    tell({ type: 'asked' });
    rest();
    unanswered = setTimeout(takeTurn, leaderTimeoutMs);
  };

  /** Fetches missed events; later ones arrive as messages. */
  const catchUp = async (): Promise<void> => {
    const cursor = await fetchMissedEvents(station);
    if (station.isMine) return;
    station.cursor = cursor;
    isCaughtUp = true;
  };
  const hearWire = async (theirs: StreamConnection): Promise<void> => {
    if (!isCaughtUp)
      await (catching ??= catchUp().finally(() => {
        catching = undefined;
      }));
    if (!station.isMine) become(theirs);
  };

  return {
    ...{ ask, rest },
    comeBack: () => {
      isCaughtUp = false;
      ask();
    },
    hear: ({ data: told }) => {
      if (station.isMine) {
        if (told.type === 'asked') tell({ type: 'wire', wire: station.wire });
        return;
      }
      if (told.type === 'asked') return;
      rest();
      if (told.type === 'unknown') void isOver();
      else if (told.type === 'wire')
        // If fetching the missed events fails, the next message about the connection state fetches them
        // again.
        hearWire(told.wire).catch((error: unknown) => {
          if (error instanceof UnauthorizedError) void isOver();
          else become({ state: 'lost', since: serverNow() });
        });
      else {
        handleStreamed(told.streamed, heard);
        if (told.streamed.type === 'event' && isCaughtUp) station.cursor = told.streamed.event.cursor;
      }
    },
  };
}

/** Fetches the events after the cursor of this window's state, and returns the cursor of the last event. */
async function fetchMissedEvents({ session, heard, cursor }: WindowState): Promise<string> {
  const { events } = session.client;
  let after = cursor;
  try {
    for (;;) {
      const page = await events.list({ after });
      page.items.forEach(heard.event);
      if (page.items.length === 0) return page.cursor;
      after = page.cursor;
    }
  } catch (error) {
    if (!isRefusal(error, 'resync')) throw error;
    const { cursor: latest } = await events.list({ after: 'latest', limit: 1 });
    heard.resync();
    return latest;
  }
}
