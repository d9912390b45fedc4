/** `GET /api/events/stream` as an iteration, through restarts of the server and cut connections. */
import {
  type ErrorBody,
  type Event,
  type Notification,
  type Registry,
  type ResultOf,
} from '@muster/registry';
import { errorBodyIn, errorOf, isRefusal, MusterError, NoAnswer } from './errors.ts';
import { type FollowActivityOptions } from './events.ts';
import { authorizationOf, type HttpOptions, reasonOf, retryAfterOf } from './http.ts';
import { isPassing, pauseBefore, type RetryOptions } from './retrying.ts';
import { serverSentIn } from './server-sent.ts';

/** What a stream tells. */
export type Streamed =
  /** Something that the caller may see; `cursor` is where to go on after it. */
  | { readonly type: 'event'; readonly event: Event }
  /** Events were missed that are no longer kept: read anew what you need. The stream goes on from now. */
  | { readonly type: 'resync' }
  /** A notification came into the caller's inbox. */
  | { readonly type: 'notification'; readonly notification: Notification }
  /** How much of the inbox is unread: on each connection once, then when it changes. */
  | ({ readonly type: 'unread' } & ResultOf<Registry['notifications']['unreadCount']>);

export interface StreamOptions extends HttpOptions, RetryOptions, FollowActivityOptions {
  /** False leaves out what concerns the inbox; true unless told. */
  readonly personal?: boolean;
  /**
   * True opens the stream again after a newer one of the member took its place (`stream_replaced`), when the pause that the
   * server asks for has passed. False throws that refusal; false unless told.
   */
  readonly reopensReplaced?: boolean;
  /** Told of each connection that the server answered. */
  readonly onOpen?: () => void;
}

/** The server sends something every 15 s; a connection on which nothing comes for so long is dead. */
const silentMillis = 45_000;
const patienceSeconds = 30;

/**
 * Every event that the caller may see, once and in commit order, and what comes into its inbox meanwhile, which is not
 * sent again after a cut connection: the unread count is. Ends with the signal. Throws what the API refuses, and the last
 * failure where no connection was answered for `forSeconds`.
 */
export async function* followStream(options: StreamOptions): AsyncGenerator<Streamed, void, undefined> {
  const { after = 'latest', signal, forSeconds = patienceSeconds } = options;
  const { onRetry = () => undefined, onOpen = () => undefined, reopensReplaced = false } = options;
  let place = after;
  let failures = 0;
  let failsSince: number | null = null;
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    let askedMillis: number | undefined;
    const connection = connectionUntil(signal);
    try {
      const body = await open(options, place, connection.signal);
      onOpen();
      for await (const { event, data, id, retry } of serverSentIn(body)) {
        connection.heard();
        [failsSince, failures] = [null, 0];
        askedMillis = retry ?? askedMillis;
        place = id ?? place;
        if (data === undefined) continue;
        if (isOver()) return;
        const streamed = streamedOf(event, data, place);
        if (streamed !== undefined) yield streamed;
      }
      throw new NoAnswer(`the stream of ${new URL(options.baseUrl).origin} ended`);
    } catch (failure) {
      if (isOver()) return;
      const known = failure instanceof MusterError ? failure : noAnswerFrom(options.baseUrl, failure);
      const isReopened = reopensReplaced && isRefusal(known, 'stream_replaced');
      if (!isPassing(known) && !isReopened) throw failure;
      failures += 1;
      failsSince ??= performance.now();
      // A server that stops says how soon to come again, and that is not for long.
      const pauseSeconds = askedMillis === undefined ? pauseBefore(failures, known) : askedMillis / 1000;
      if (performance.now() + pauseSeconds * 1000 > failsSince + forSeconds * 1000) throw known;
      onRetry(known, pauseSeconds);
      await pause(pauseSeconds * 1000, signal);
    } finally {
      connection.close();
    }
  }
}

async function open(
  { baseUrl, token, projectId, kinds, personal, fetch = globalThis.fetch }: StreamOptions,
  after: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const url = new URL('/api/events/stream', baseUrl);
  url.searchParams.set('after', after);
  if (projectId !== undefined) url.searchParams.set('projectId', projectId);
  if (kinds !== undefined) url.searchParams.set('kinds', kinds.join(','));
  if (personal === false) url.searchParams.set('personal', 'false');
  const headers = { ...authorizationOf(token), accept: 'text/event-stream' };
  const response = await fetch(url, { headers, signal });
  if (response.ok && response.body !== null) return response.body;
  const error = errorBodyIn(await response.json().catch(() => undefined));
  if (error !== undefined) throw errorOf(error, retryAfterOf(response));
  throw new NoAnswer(`${url.origin} answered ${response.status}, not as the API does`);
}

/** Undefined for what a later server may tell besides. */
function streamedOf(event: string, data: string, cursor: string): Streamed | undefined {
  const value = JSON.parse(data) as object;
  if (event === 'message') return { type: 'event', event: { ...(value as Omit<Event, 'cursor'>), cursor } };
  if (event === 'notification.created') return { type: 'notification', notification: value as Notification };
  if (event === 'notifications.unread')
    return { type: 'unread', ...(value as ResultOf<Registry['notifications']['unreadCount']>) };
  if (event === 'resync') return { type: 'resync' };
  if (event === 'end') throw errorOf(value as ErrorBody);
  return undefined;
}

/** Aborts with the outer signal, and when nothing was heard for too long. */
function connectionUntil(outer: AbortSignal | undefined) {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  let silence = setTimeout(abort, silentMillis);
  outer?.addEventListener('abort', abort);
  return {
    signal: inner.signal,
    heard: () => {
      clearTimeout(silence);
      silence = setTimeout(abort, silentMillis);
    },
    /** Whatever is left of it goes, so that the server frees its place. */
    close: () => {
      clearTimeout(silence);
      outer?.removeEventListener('abort', abort);
      inner.abort();
    },
  };
}

const noAnswerFrom = (baseUrl: string, failure: unknown): NoAnswer =>
  failure instanceof NoAnswer
    ? failure
    : new NoAnswer(`no answer from ${new URL(baseUrl).origin}: ${reasonOf(failure)}`, failure);

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
