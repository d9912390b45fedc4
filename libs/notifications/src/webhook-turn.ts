/**
 * Runs one round of deliveries of a worker to an endpoint. The round is one transaction: it stores the
 * results of delivery attempts, adds new events, and answers the messages to send next. Only one worker holds
 * an endpoint at a time, identified by an epoch. Results of a worker with an old epoch are dropped, and the
 * new holder sends the messages again with the same ids. Messages are stored in webhook_deliveries from
 * before they are sent until a result is stored. Therefore no message is lost when a worker crashes.
 */
import { type Db } from '@muster/driver';
import { nextTryInSeconds } from '@muster/outbound';
import { type WebhookPause, type WebhookTry } from '@muster/registry';
import { conclude, type EventReaction } from '@muster/runtime';
import { systemFacts, workerActor } from '@muster/tenancy';
import { items as activityItems } from './data/activity.ts';
import { cursorsOf, type EventCursors, organizationKeyOf } from './data/event-cursors.ts';
import {
  endTurn,
  type HeldWebhook,
  keepHolding,
  mostLookedAt,
  mostWaiting,
  pauseHeld,
  type ReadyRow,
  settle,
  type Settled,
  takeReady,
  type WebhookTurnResult,
  walkOn,
} from './data/webhook-turns.ts';
import { aboutWebhook } from './data/webhooks.ts';
import { type WebhooksSetUp } from './operations/webhooks/set-up.ts';
import { eventMessage, testMessage, withheldMessage } from './rules/webhook-message.ts';
import { secretOwner } from './rules/webhook-secrets.ts';

/** A message that is due. */
export interface ReadyMessage {
  readonly deliveryId: string;
  /** The `webhook-id` of the message. */
  readonly eventId: string;
  /** The number of the event; null for a test. */
  readonly seq: number | null;
  /** The number of attempts since the delivery was last scheduled with a fresh count. */
  readonly attempts: number;
  readonly body: string;
}

/** The result of an attempt to send a message. */
export interface SentMessage {
  readonly message: ReadyMessage;
  readonly tried: WebhookTry;
  /** The first 2 KiB of the receiver's answer. */
  readonly answer: string | null;
  /** The delay in seconds that the receiver requests. */
  readonly retryAfterSeconds: number | null;
}

export interface TurnSetUp extends Pick<WebhooksSetUp, 'seals' | 'subjectUrl'> {
  readonly reactions: readonly EventReaction[];
}

export interface TurnAsked {
  readonly orgId: string;
  readonly webhookId: string;
  readonly epoch: number;
  readonly sent: readonly SentMessage[];
  /**
   * The ids of deliveries that the worker already has, queued or in flight. The round of deliveries does not
   * answer them again.
   */
  readonly withWorker: readonly string[];
  /**
   * The maximum number of event deliveries that the worker accepts. Test deliveries are answered in addition
   * to them.
   */
  readonly most: number;
  /** True if the worker releases the endpoint for other workers. */
  readonly leaves: boolean;
}

export interface TurnAnswer {
  readonly url: string;
  readonly isStrict: boolean;
  /** True if the worker must hold back queued events. Tests are still sent. */
  readonly isPaused: boolean;
  /** The signing secrets, newest first; empty if they cannot be decrypted. */
  readonly secrets: readonly string[];
  readonly ready: readonly ReadyMessage[];
  /** True if more of the activity has to be scanned. */
  readonly more: boolean;
  /** True if the endpoint was released, so that the worker no longer holds it. */
  readonly isOver: boolean;
}

const goneStatus = 410;

export const isDelivered = ({ status, error }: WebhookTry): boolean =>
  error === null && status !== null && status >= 200 && status < 300;

/**
 * Converts the result of an attempt for storage. `chance` is a random number from 0 to 1 that spreads the
 * retries.
 */
function settledOf({ message, tried, answer, retryAfterSeconds }: SentMessage, chance: number): Settled {
  const common = { id: message.deliveryId, tried, answer };
  if (isDelivered(tried)) return { ...common, state: 'delivered', pause: null };
  // A test delivery is not retried.
  if (message.seq === null) return { ...common, state: 'failed', pause: null };
  const pause = nextTryInSeconds(message.attempts + 1, chance, retryAfterSeconds);
  return { ...common, state: 'pending', pause };
}

/** Answers the reason for which the endpoint must be paused now; null if there is no such reason. */
function pauseOf(
  held: HeldWebhook,
  settled: readonly Settled[],
  secrets: readonly string[],
): WebhookPause | null {
  if (held.paused_at !== null) return null;
  if (!held.makerIsMember) return 'maker_left';
  if (settled.some(({ state, tried }) => state === 'pending' && tried.status === goneStatus)) return 'gone';
  if (settled.some(({ state, pause }) => state === 'pending' && pause === null)) return 'failing';
  return secrets.length === 0 ? 'secret_unreadable' : null;
}

/**
 * Answers the endpoint's new cursor after a scan of the activity, and whether more activity has to be
 * scanned.
 */
function placeAfter(
  { cursor_seq: cursor, stands }: HeldWebhook,
  { waiting, isEnough, looked, lookedUpTo, chosen, chosenUpTo }: WebhookTurnResult,
): { readonly cursorSeq: number; readonly isFull: boolean; readonly more: boolean } {
  const isFull = isEnough || waiting + chosen >= mostWaiting;
  if (isFull) return { cursorSeq: chosenUpTo ?? cursor, isFull, more: false };
  const more = looked === mostLookedAt;
  return { cursorSeq: more ? (lookedUpTo ?? cursor) : stands, isFull, more };
}

function messageOf(row: ReadyRow, cursors: EventCursors, { subjectUrl }: TurnSetUp): ReadyMessage {
  const {
    delivery_id: deliveryId,
    event_id: eventId,
    delivery_seq: seq,
    activity_seq: place,
    attempts,
  } = row;
  const bodyOf = (): string => {
    if (seq === null || place === null) return testMessage(row.event_at, row.webhook_id);
    const numbered = { seq, cursor: cursors.seal(place) };
    return row.may_hear === true
      ? eventMessage(
          activityItems.shown(row as Parameters<typeof activityItems.shown>[0]),
          numbered,
          subjectUrl,
        )
      : withheldMessage(row.event_at, numbered);
  };
  return { deliveryId, eventId, seq, attempts, body: bodyOf() };
}

/** Answers the due deliveries. In strict order, a delivery that is not due blocks all later ones. */
function dueOf(rows: readonly ReadyRow[]): readonly ReadyRow[] {
  const first = rows.findIndex((row) => !row.is_due);
  return first === -1 ? rows : rows.slice(0, first);
}

function failingAfter(before: number, settled: readonly Settled[]): number {
  const last = settled.findLastIndex(({ state }) => state === 'delivered');
  return last === -1 ? before + settled.length : settled.length - 1 - last;
}

const lastAt = (settled: readonly Settled[], delivered: boolean): string | null =>
  settled.findLast(({ state }) => (state === 'delivered') === delivered)?.tried.at ?? null;

/**
 * Runs one round of deliveries. If another worker holds the endpoint or the endpoint was deleted, it stores
 * no results and answers undefined.
 */
export async function takeTurn(db: Db, asked: TurnAsked, setUp: TurnSetUp): Promise<TurnAnswer | undefined> {
  const { orgId, webhookId, epoch, sent, withWorker, leaves } = asked;
  const held = await keepHolding(db, webhookId, epoch);
  if (held === undefined) return undefined;
  const [organizationKey, cursors] = [await organizationKeyOf(db, orgId), await cursorsOf(db, orgId)];
  const secrets = [held.secret, ...(held.previous_secret === null ? [] : [held.previous_secret])]
    .map((sealed) => setUp.seals.open(secretOwner(organizationKey, webhookId), sealed))
    .filter((secret) => secret !== undefined);

  const said = sent.map((one) => settledOf(one, Math.random()));
  const kept = new Set(said.length === 0 ? [] : (await db.all(settle(said))).map(({ id }) => id));
  const settled = said.filter(({ id }) => kept.has(id));
  const pause = pauseOf(held, settled, secrets);
  if (pause !== null) await db.all(pauseHeld(webhookId, pause));
  const isPaused = held.paused_at !== null || pause !== null;

  const walked = isPaused || leaves ? null : await walkOn(db, held);
  const place =
    walked === null ? { cursorSeq: held.cursor_seq, isFull: false, more: false } : placeAfter(held, walked);
  const rows = leaves ? [] : await takeReady(db, held, isPaused ? 0 : asked.most, withWorker);
  const ready = dueOf(rows).map((row) => messageOf(row, cursors, setUp));
  const isStrict = held.send_order === 'strict';
  const isOver = leaves || (ready.length === 0 && withWorker.length === 0 && !place.more);
  await db.all(
    endTurn({
      id: webhookId,
      cursorSeq: place.cursorSeq,
      sentSeq: held.sent_seq + (walked?.chosen ?? 0),
      isFull: place.isFull,
      failing: failingAfter(held.failing, settled),
      lastSuccessAt: lastAt(settled, true),
      lastFailureAt: lastAt(settled, false),
      isPaused,
      isStrict,
      lets: isOver,
    }),
  );
  if (pause !== null) {
    const data = { reason: pause, makerId: held.maker_id };
    const domainEvents = [{ kind: 'webhook.paused' as const, subject: aboutWebhook(held), data }];
    const facts = systemFacts('worker.webhooks.pause', webhookId);
    await conclude(db, { orgId, actor: workerActor, domainEvents, facts }, setUp.reactions);
  }
  return { url: held.url, isStrict, isPaused, secrets, ready, more: place.more, isOver };
}
