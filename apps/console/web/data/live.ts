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
/** Delay before a window whose stream was replaced takes a place from another window again. */
const replacedMillis = 60_000;
/** A window that is looked at asks so often whether the one with the stream is there, and waits so long for its answer. */
const askMillis = 20_000;
const answerMillis = 8_000;

/** What this window knows and says, whether it has the stream or is told. */
interface Station {
  readonly session: Session;
  readonly heard: Heard;
  wire: Wire;
  /** Of the last event that was heard. */
  cursor: string;
  /** Whether this window has the stream. */
  isMine: boolean;
  readonly tell: (told: Told) => void;
  readonly become: (next: Wire) => void;
  /** Whether nobody knows who is looking, for good: then all of it is stopped. */
  readonly isOver: () => Promise<boolean>;
}

export function startLive(session: Session, heard: Heard): Live {
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
  const tell = (told: Told): void => {
    if (!signal.aborted) channel.postMessage(told);
  };
  const station: Station = {
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
  const asking = setInterval(askIfSeen, askMillis);
  const turns = takeTurns(name, signal, async (turn) => {
    follower.rest();
    await lead(station, turn);
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

function hear(streamed: Streamed, { event, resync, notification, unread }: Heard): void {
  if (streamed.type === 'event') event(streamed.event);
  else if (streamed.type === 'resync') resync();
  else if (streamed.type === 'notification') notification();
  else unread(streamed.unread);
}

/** This window has the stream, until the signal. */
async function lead(station: Station, signal: AbortSignal): Promise<void> {
  const { tell, become, isOver } = station;
  station.isMine = true;
  // Windows that wait for an answer have one.
  tell({ type: 'wire', wire: station.wire });
  while (!signal.aborted) {
    try {
      await hearStream(station, signal);
    } catch (error) {
      if (error instanceof UnauthorizedError) {
        tell({ type: 'unknown' });
        become({ state: 'lost', since: timeNow() });
        if (await isOver()) return;
      }
      const isReplaced = isRefusal(error, 'stream_replaced');
      become(isReplaced ? { state: 'crowded' } : { state: 'lost', since: timeNow() });
      await new Promise((resolve) => setTimeout(resolve, isReplaced ? replacedMillis : againMillis));
    }
  }
  station.isMine = false;
}

async function hearStream(station: Station, signal: AbortSignal): Promise<void> {
  const { session, heard, tell, become, cursor } = station;
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
    if (streamed.type === 'event') station.cursor = streamed.event.cursor;
    hear(streamed, heard);
  }
}

interface Follower {
  /** What another window tells. */
  readonly hear: (message: MessageEvent<Told>) => void;
  /** Asks the window with the stream how it is. One that does not answer loses its turn. */
  readonly ask: () => void;
  /** Waits for no answer any more. */
  readonly rest: () => void;
  /** Of a window that was put to sleep: it may not have been told all. */
  readonly comeBack: () => void;
}

/** This window is told, while another has the stream. */
function createFollower(station: Station, takeTurn: () => void): Follower {
  const { heard, tell, become, isOver } = station;
  /** Whether it has read what happened before it listened. */
  let isCaughtUp = false;
  let catching: Promise<void> | undefined;
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => clearTimeout(unanswered);
  const ask = (): void => {
    if (station.isMine) return;
    tell({ type: 'asked' });
    rest();
    unanswered = setTimeout(takeTurn, answerMillis);
  };

  /** All that comes after what is missed it is told. */
  const catchUp = async (): Promise<void> => {
    const cursor = await hearMissed(station);
    if (station.isMine) return;
    station.cursor = cursor;
    isCaughtUp = true;
  };
  const hearWire = async (theirs: Wire): Promise<void> => {
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
        // One that could not catch up tries again when it is told the next time.
        hearWire(told.wire).catch((error: unknown) => {
          if (error instanceof UnauthorizedError) void isOver();
          else become({ state: 'lost', since: timeNow() });
        });
      else {
        hear(told.streamed, heard);
        if (told.streamed.type === 'event' && isCaughtUp) station.cursor = told.streamed.event.cursor;
      }
    },
  };
}

/** Hears what happened after the station's cursor, and answers up to which one. */
async function hearMissed({ session, heard, cursor }: Station): Promise<string> {
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
