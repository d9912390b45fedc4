/**
 * An async iteration over `GET /api/events/stream` that continues through server restarts and lost
 * connections.
 */
import {
  errorBodyIn,
  errorOf,
  isRefusal,
  MusterError,
  NoAnswer,
  authorizationHeader,
  type HttpOptions,
  failureMessageOf,
  retryAfterSecondsOf,
  isTemporaryFailure,
  retryPauseSeconds,
  type RetryOptions,
  parseServerSentEvents,
} from '@muster/client-core';
import {
  type ErrorBody,
  type Event,
  type InboxItem,
  type Notification,
  type ResultOf,
} from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type FollowActivityOptions } from './events.ts';

/** An item that the event stream yields. */
export type Streamed =
  /** An event that the caller may see. Its `cursor` is the position after it. */
  | { readonly type: 'event'; readonly event: Event }
  /**
   * Missed events are no longer stored: reload the data that you need. The stream continues with new events.
   */
  | { readonly type: 'resync' }
  /** A new notification in the caller's inbox. */
  | { readonly type: 'notification'; readonly notification: Notification }
  /** The unread counts of the inbox. They are sent once on each connection and then at each change. */
  | ({ readonly type: 'unread' } & ResultOf<Registry['notifications']['unreadCount']>)
  /** An item of `agents.inbox`, if `inboxAfter` is given. */
  | { readonly type: 'inbox'; readonly item: InboxItem };

export interface StreamOptions extends HttpOptions, RetryOptions, FollowActivityOptions {
  /** False excludes notifications; true by default. */
  readonly personal?: boolean;
  /** Adds the items of `agents.inbox` whose `seq` is greater than this number, each exactly once. */
  readonly inboxAfter?: number | undefined;
  /**
   * If true, reconnects after a newer stream of the member replaced this one (`stream_replaced`), after the
   * delay that the server requests. If false, which is the default, throws that refusal.
   */
  readonly reopensWhenReplaced?: boolean;
  /** Runs each time the server has accepted a connection. */
  readonly onOpen?: () => void;
}

/** The idle timeout of a connection in milliseconds. The server sends something every 15 s. */
const idleTimeoutMillis = 45_000;
const defaultRetrySeconds = 30;

/**
 * Yields every event that the caller may see exactly once, in commit order. It also yields new notifications.
 * After a lost connection, missed notifications are not sent again, but the unread count is. The
 * iteration ends when the signal is aborted. Throws refusals of the API. Throws the last failure if the
 * server accepted no connection for `forSeconds`.
 */
export async function* followStream(options: StreamOptions): AsyncGenerator<Streamed, void, undefined> {
  const { after = 'latest', signal, forSeconds = defaultRetrySeconds } = options;
  const { onRetry = () => undefined, onOpen = () => undefined, reopensWhenReplaced = false } = options;
  let place = after;
  let { inboxAfter } = options;
  let failures = 0;
  let failsSince: number | null = null;
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    let askedMillis: number | undefined;
    const connection = createIdleTimeoutSignal(signal);
    try {
      const body = await openStream({ ...options, inboxAfter }, place, connection.signal);
      onOpen();
      for await (const { event, data, id, retry } of parseServerSentEvents(body)) {
        connection.heard();
        [failsSince, failures] = [null, 0];
        askedMillis = retry ?? askedMillis;
        place = id ?? place;
        if (data === undefined) continue;
        if (isOver()) return;
        const streamed = parseStreamItem(event, data, place);
        if (streamed?.type === 'inbox') inboxAfter = streamed.item.seq;
        if (streamed !== undefined) yield streamed;
      }
      throw new NoAnswer(`the stream of ${new URL(options.baseUrl).origin} ended`);
    } catch (failure) {
      if (isOver()) return;
      const known = failure instanceof MusterError ? failure : toNoAnswer(options.baseUrl, failure);
      const isReopened = reopensWhenReplaced && isRefusal(known, 'stream_replaced');
      if (!isTemporaryFailure(known) && !isReopened) throw failure;
      failures += 1;
      failsSince ??= performance.now();
      // Uses the delay that the server requested, if any: a server that shuts down requests a short one.
      const pauseSeconds =
        askedMillis === undefined ? retryPauseSeconds(failures, known) : askedMillis / 1000;
      if (performance.now() + pauseSeconds * 1000 > failsSince + forSeconds * 1000) throw known;
      onRetry(known, pauseSeconds);
      await pause(pauseSeconds * 1000, signal);
    } finally {
      connection.close();
    }
  }
}

async function openStream(
  { baseUrl, token, projectId, kinds, personal, inboxAfter, fetch = globalThis.fetch }: StreamOptions,
  cursor: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const url = new URL('/api/events/stream', baseUrl);
  url.searchParams.set('after', cursor);
  if (projectId !== undefined) url.searchParams.set('projectId', projectId);
  if (kinds !== undefined) url.searchParams.set('kinds', kinds.join(','));
  if (personal === false) url.searchParams.set('personal', 'false');
  if (inboxAfter !== undefined) url.searchParams.set('inboxAfter', String(inboxAfter));
  const headers = { ...authorizationHeader(token), accept: 'text/event-stream' };
  const response = await fetch(url, { headers, signal });
  if (response.ok && response.body !== null) return response.body;
  const error = errorBodyIn(await response.json().catch(() => undefined));
  if (error !== undefined) throw errorOf(error, retryAfterSecondsOf(response));
  throw new NoAnswer(`${url.origin} answered ${response.status} in an unexpected format`);
}

/** Parses one event. Returns undefined for kinds of events that a newer server may send. */
function parseStreamItem(event: string, data: string, cursor: string): Streamed | undefined {
  const value = JSON.parse(data) as object;
  if (event === 'message') return { type: 'event', event: { ...(value as Omit<Event, 'cursor'>), cursor } };
  if (event === 'notification.created') return { type: 'notification', notification: value as Notification };
  if (event === 'notifications.unread')
    return { type: 'unread', ...(value as ResultOf<Registry['notifications']['unreadCount']>) };
  if (event === 'inbox.item') return { type: 'inbox', item: value as InboxItem };
  if (event === 'resync') return { type: 'resync' };
  if (event === 'end') throw errorOf(value as ErrorBody);
  return undefined;
}

/** Creates a signal that aborts with the outer signal, or when nothing arrived within the idle timeout. */
function createIdleTimeoutSignal(outerSignal: AbortSignal | undefined) {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  let silence = setTimeout(abort, idleTimeoutMillis);
  outerSignal?.addEventListener('abort', abort);
  return {
    signal: inner.signal,
    heard: () => {
      clearTimeout(silence);
      silence = setTimeout(abort, idleTimeoutMillis);
    },
    /** Closes the connection, so that the server frees its slot. */
    close: () => {
      clearTimeout(silence);
      outerSignal?.removeEventListener('abort', abort);
      inner.abort();
    },
  };
}

const toNoAnswer = (baseUrl: string, failure: unknown): NoAnswer =>
  failure instanceof NoAnswer
    ? failure
    : new NoAnswer(`no answer from ${new URL(baseUrl).origin}: ${failureMessageOf(failure)}`, failure);

const pause = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, millis);
    signal?.addEventListener('abort', end);
  });
