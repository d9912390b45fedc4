/**
 * Sends the messages of one endpoint while this worker owns it. Short database transactions, called turns,
 * save results and fetch messages. Between turns, at most 8 messages are sent at the same time, or one at a
 * time in strict order. The endpoint is released when nothing is left to send or its time slice ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  holdSeconds,
  isDelivered,
  type ReadyMessage,
  type SentMessage,
  type TurnAnswer,
  type TurnAsked,
} from '@muster/notifications';

const mostInFlight = 8;
/** Number of ready messages that are fetched ahead, and the number left at which more are fetched. */
const fetched = 128;
const fewLeft = 32;
/**
 * The time that one attempt can take at most, in milliseconds. A worker starts no attempt that could still be
 * running when another worker takes the endpoint.
 */
const tryMillis = 11_000;
/**
 * Maximum intervals in milliseconds: first between two turns that save results, then between two turns that
 * renew the ownership of the endpoint.
 */
const keepMillis = 200;
const holdAnewMillis = 3_000;
/**
 * Fetched messages are fetched again after this time, because the webhook's creator may have lost access to
 * them.
 */
const freshMillis = 3_000;
const afterFaultMillis = 500;

export interface Drive {
  /**
   * Saves results and fetches messages in one database transaction. Returns undefined if another worker owns
   * the endpoint.
   */
  readonly turn: (
    asked: Pick<TurnAsked, 'sent' | 'withWorker' | 'most' | 'leaves'>,
  ) => Promise<TurnAnswer | undefined>;
  readonly send: (endpoint: TurnAnswer, message: ReadyMessage) => Promise<SentMessage>;
  /** Returns true if the endpoint must be released: the worker stops, or other endpoints are waiting. */
  readonly isOver: () => boolean;
  readonly onFault: (error: unknown) => void;
}

/** Sends the messages of an endpoint. Resolves when the endpoint was released or another worker owns it. */
export async function drive({ turn, send, isOver, onFault }: Drive): Promise<void> {
  let queue: ReadyMessage[] = [];
  let sent: SentMessage[] = [];
  const underWay = new Map<string, ReadyMessage>();
  let heldUntil = performance.now() + holdSeconds * 1_000;
  let endpoint: TurnAnswer | undefined;
  let woken = Promise.withResolvers<undefined>();
  let lastTurnAt = 0;
  let freshUntil = 0;

  const dropEvents = (): void => {
    queue = queue.filter(({ seq }) => seq === null);
  };

  const launch = (to: TurnAnswer, message: ReadyMessage): void => {
    underWay.set(message.deliveryId, message);
    void send(to, message).then((one) => {
      underWay.delete(message.deliveryId);
      sent.push(one);
      // In strict order, later messages wait for a failed one.
      if (to.isStrict && message.seq !== null && !isDelivered(one.tried)) dropEvents();
      pump();
      woken.resolve(undefined);
    });
  };

  const pump = (): void => {
    if (endpoint === undefined || isOver()) return;
    const mayBegin = () => performance.now() + tryMillis < heldUntil;
    const most = endpoint.isStrict ? 1 : mostInFlight;
    while (underWay.size < most && mayBegin()) {
      const next = queue.shift();
      if (next === undefined) return;
      launch(endpoint, next);
    }
  };

  const wantsTurn = (): boolean => {
    const since = performance.now() - lastTurnAt;
    if (underWay.size === 0 && (queue.length === 0 || sent.length > 0)) return true;
    if (sent.length > 0 && (queue.length <= fewLeft || since >= keepMillis)) return true;
    return since >= holdAnewMillis;
  };

  for (;;) {
    const leaving = isOver();
    const began = performance.now();
    if (leaving || began > freshUntil) {
      queue = [];
      freshUntil = began + freshMillis;
    }
    const settling = [...sent];
    const withWorker = [...underWay.keys(), ...queue.map(({ deliveryId }) => deliveryId)];
    // In strict order, the next messages are fetched only after all fetched ones are settled.
    const isStrictAndBusy = endpoint?.isStrict === true && withWorker.length > 0;
    const most = leaving || isStrictAndBusy ? 0 : Math.max(0, fetched - queue.length);
    const leaves = leaving && underWay.size === 0;
    try {
      endpoint = await turn({ sent: settling, withWorker, most, leaves });
    } catch (error) {
      // The transaction may have committed before the error. Saving the same results again has no effect.
      onFault(error);
      if (performance.now() > heldUntil && underWay.size === 0) return;
      await pause(afterFaultMillis);
      continue;
    }
    if (endpoint === undefined) return;
    sent = sent.slice(settling.length);
    lastTurnAt = performance.now();
    heldUntil = began + holdSeconds * 1_000;
    if (endpoint.isOver) return;
    if (endpoint.isPaused) dropEvents();
    queue.push(...endpoint.ready);
    pump();
    if (endpoint.more && queue.length <= fewLeft) continue;
    while (!wantsTurn() && !(isOver() && underWay.size === 0)) {
      woken = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => {
        woken.resolve(undefined);
      }, keepMillis);
      await woken.promise;
      clearTimeout(timer);
    }
  }
}
