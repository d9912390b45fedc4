/**
 * Sends the messages of one endpoint while this worker owns it. Short database transactions, called turns,
 * save results and fetch messages. Between turns, at most 8 messages are sent at the same time, or one at a
 * time in strict order. The endpoint is released when nothing is left to send or its time slice ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  webhookHoldSeconds,
  isDelivered,
  type ReadyMessage,
  type SentMessage,
  type TurnResponse,
  type TurnRequest,
} from '@muster/notifications';

const maxConcurrentSends = 8;
/** Number of ready messages that are fetched ahead, and the number left at which more are fetched. */
const maxQueuedMessages = 128;
const refetchThreshold = 32;
/**
 * The time that one attempt can take at most, in milliseconds. A worker starts no attempt that could still be
 * running when another worker takes the endpoint.
 */
const maxAttemptMillis = 11_000;
/**
 * Maximum intervals in milliseconds: first between two turns that save results, then between two turns that
 * renew the ownership of the endpoint.
 */
const saveIntervalMillis = 200;
const ownershipRenewalMillis = 3_000;
/**
 * Fetched messages are fetched again after this time, because the webhook's creator may have lost access to
 * them.
 */
const messageMaxAgeMillis = 3_000;
const retryDelayMillis = 500;

export interface EndpointDriver {
  /**
   * Saves results and fetches messages in one database transaction. Returns undefined if another worker owns
   * the endpoint.
   */
  readonly runTurn: (
    request: Pick<TurnRequest, 'sent' | 'withWorker' | 'most' | 'releasesEndpoint'>,
  ) => Promise<TurnResponse | undefined>;
  readonly send: (endpoint: TurnResponse, message: ReadyMessage) => Promise<SentMessage>;
  /** Returns true if the endpoint must be released: the worker stops, or other endpoints are waiting. */
  readonly mustRelease: () => boolean;
  readonly onFault: (error: unknown) => void;
}

/** Returns only the test messages, which belong to no event. */
const withoutEvents = (messages: readonly ReadyMessage[]): ReadyMessage[] =>
  messages.filter(({ seq }) => seq === null);

/** Sends the messages of an endpoint. Resolves when the endpoint was released or another worker owns it. */
export async function sendEndpointMessages({
  runTurn,
  send,
  mustRelease,
  onFault,
}: EndpointDriver): Promise<void> {
  let queue: ReadyMessage[] = [];
  let sent: SentMessage[] = [];
  const underWay = new Map<string, ReadyMessage>();
  let heldUntil = performance.now() + webhookHoldSeconds * 1_000;
  let endpoint: TurnResponse | undefined;
  let woken = Promise.withResolvers<undefined>();
  let lastTurnAt = 0;
  let freshUntil = 0;

  const launch = (to: TurnResponse, message: ReadyMessage): void => {
    underWay.set(message.deliveryId, message);
    void send(to, message).then((one) => {
      underWay.delete(message.deliveryId);
      sent.push(one);
      // In strict order, later messages wait for a failed one.
      if (to.isStrictOrder && message.seq !== null && !isDelivered(one.attempt)) queue = withoutEvents(queue);
      pump();
      woken.resolve(undefined);
    });
  };

  const pump = (): void => {
    if (endpoint === undefined || mustRelease()) return;
    const mayBegin = () => performance.now() + maxAttemptMillis < heldUntil;
    // Slack and Teams accept about one message a second.
    const isOneAtATime = endpoint.isStrictOrder || endpoint.format !== 'standard';
    const most = isOneAtATime ? 1 : maxConcurrentSends;
    while (underWay.size < most && mayBegin()) {
      const next = queue.shift();
      if (next === undefined) return;
      launch(endpoint, next);
    }
  };

  const wantsTurn = (): boolean => {
    const since = performance.now() - lastTurnAt;
    if (underWay.size === 0 && (queue.length === 0 || sent.length > 0)) return true;
    if (sent.length > 0 && (queue.length <= refetchThreshold || since >= saveIntervalMillis)) return true;
    return since >= ownershipRenewalMillis;
  };

  for (;;) {
    const leaving = mustRelease();
    const began = performance.now();
    if (leaving || began > freshUntil) {
      queue = [];
      freshUntil = began + messageMaxAgeMillis;
    }
    const settling = [...sent];
    const withWorker = [...underWay.keys(), ...queue.map(({ deliveryId }) => deliveryId)];
    // In strict order, the next messages are fetched only after all fetched ones are settled.
    const isStrictAndBusy = endpoint?.isStrictOrder === true && withWorker.length > 0;
    const most = leaving || isStrictAndBusy ? 0 : Math.max(0, maxQueuedMessages - queue.length);
    const releasesEndpoint = leaving && underWay.size === 0;
    try {
      endpoint = await runTurn({ sent: settling, withWorker, most, releasesEndpoint });
    } catch (error) {
      // The transaction may have committed before the error. Saving the same results again has no effect.
      onFault(error);
      if (performance.now() > heldUntil && underWay.size === 0) return;
      await pause(retryDelayMillis);
      continue;
    }
    if (endpoint === undefined) return;
    sent = sent.slice(settling.length);
    lastTurnAt = performance.now();
    heldUntil = began + webhookHoldSeconds * 1_000;
    if (endpoint.isReleased) return;
    if (endpoint.isPaused) queue = withoutEvents(queue);
    queue.push(...endpoint.readyMessages);
    pump();
    if (endpoint.hasMoreToScan && queue.length <= refetchThreshold) continue;
    while (!wantsTurn() && !(mustRelease() && underWay.size === 0)) {
      woken = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => {
        woken.resolve(undefined);
      }, saveIntervalMillis);
      await woken.promise;
      clearTimeout(timer);
    }
  }
}
