/**
 * One endpoint while this worker has it: takes turns in the database, and sends between them, at most 8 at once, or one
 * after the other in strict order. It gives the endpoint back when nothing is to be sent, or when its time is over.
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
/** Ready ones that are fetched ahead, and how few of them are left when more are. */
const fetched = 128;
const fewLeft = 32;
/** Longer than a try may take: none is begun that could still be under way when another worker takes the endpoint. */
const tryMillis = 11_000;
/** At least so often what came back is kept, and the endpoint is held anew. */
const keepMillis = 200;
const holdAnewMillis = 3_000;
/** What was fetched is fetched again after so long: by then its maker may have lost the right to see it. */
const freshMillis = 3_000;
const afterFaultMillis = 500;

export interface Drive {
  /** A turn in the database; undefined where the endpoint is another worker's. */
  readonly turn: (
    asked: Pick<TurnAsked, 'sent' | 'withWorker' | 'most' | 'leaves'>,
  ) => Promise<TurnAnswer | undefined>;
  readonly send: (endpoint: TurnAnswer, message: ReadyMessage) => Promise<SentMessage>;
  /** It is to be given back: the worker stops, or others want their turn. */
  readonly isOver: () => boolean;
  readonly onFault: (error: unknown) => void;
}

/** Resolves when the endpoint is given back, or is another worker's. */
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
      // What comes after it waits for it.
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
    // In strict order what is ready comes in one piece, after all of the last piece is settled.
    const isStrictAndBusy = endpoint?.isStrict === true && withWorker.length > 0;
    const most = leaving || isStrictAndBusy ? 0 : Math.max(0, fetched - queue.length);
    const leaves = leaving && underWay.size === 0;
    try {
      endpoint = await turn({ sent: settling, withWorker, most, leaves });
    } catch (error) {
      // Whether it was kept is not known: what was settled before is not settled again.
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
