/**
 * Runs one round of deliveries of a worker to an endpoint. The round is one transaction: it stores the
 * results of delivery attempts, adds new events, and returns the messages to send next. Only one worker holds
 * an endpoint at a time, identified by an epoch. Results of a worker with an old epoch are dropped, and the
 * new holder sends the messages again with the same ids. Messages are stored in webhook_deliveries from
 * before they are sent until a result is stored. Therefore no message is lost when a worker crashes.
 */
import { type Db } from '@muster/driver';
import { secondsUntilNextAttempt } from '@muster/outbound';
import {
  type AuditEntry,
  isAuditKind,
  type WebhookFormat,
  type WebhookPause,
  type WebhookTry,
} from '@muster/contract';
import { runReactionsAndWriteTrail, type EventReaction } from '@muster/runtime';
import { systemAuditFacts, workerActor } from '@muster/tenancy';
import { activityView as activityItems } from './data/activity.ts';
import { readAuditEntries } from './data/audit.ts';
import { getEventCursors, type EventCursors, getCachedOrganizationKey } from './data/event-cursors.ts';
import {
  updateWebhookAfterTurn,
  type HeldWebhook,
  extendHold,
  maxScannedEntries,
  maxPendingEvents,
  pauseWebhook,
  type ReadyDeliveryRow,
  storeAttemptResults,
  type DeliveryAttemptResult,
  readReadyDeliveries,
  type WebhookTurnResult,
  scanActivity,
  scanAudit,
} from './data/webhook-turns.ts';
import { webhookSubject } from './data/webhooks.ts';
import { type WebhooksConfig } from './operations/webhooks/set-up.ts';
import {
  auditMessageOf,
  eventMessage,
  type MessageFormat,
  testMessage,
  withheldMessage,
} from './rules/webhook-message.ts';
import { webhookSecretOwner } from './rules/webhook-secrets.ts';

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
  readonly attempt: WebhookTry;
  /** The first 2 KiB of the receiver's answer. */
  readonly answer: string | null;
  /** The delay in seconds that the receiver requests. */
  readonly retryAfterSeconds: number | null;
}

export interface TurnConfig extends Pick<WebhooksConfig, 'seals' | 'subjectUrl' | 'consoleUrl'> {
  readonly reactions: readonly EventReaction[];
}

export interface TurnRequest {
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
  readonly releasesEndpoint: boolean;
}

export interface TurnResponse {
  readonly url: string;
  readonly format: WebhookFormat;
  readonly isStrictOrder: boolean;
  /** True if the worker must hold back queued events. Tests are still sent. */
  readonly isPaused: boolean;
  /**
   * The signing secrets, newest first; for a chat service, its URL. Empty if they cannot be decrypted.
   */
  readonly secrets: readonly string[];
  readonly readyMessages: readonly ReadyMessage[];
  /** True if more of the activity or the audit has to be scanned. */
  readonly hasMoreToScan: boolean;
  /** True if the endpoint was released, so that the worker no longer holds it. */
  readonly isReleased: boolean;
}

const goneHttpStatus = 410;

export const isDelivered = ({ status, error }: WebhookTry): boolean =>
  error === null && status !== null && status >= 200 && status < 300;

/**
 * Converts the result of an attempt for storage. `chance` is a random number from 0 to 1 that spreads the
 * retries.
 */
function toAttemptResult(
  { message, attempt, answer, retryAfterSeconds }: SentMessage,
  retryJitter: number,
): DeliveryAttemptResult {
  const common = { id: message.deliveryId, tried: attempt, answer };
  if (isDelivered(attempt)) return { ...common, state: 'delivered', pause: null };
  // A test delivery is not retried.
  if (message.seq === null) return { ...common, state: 'failed', pause: null };
  const pause = secondsUntilNextAttempt(message.attempts + 1, retryJitter, retryAfterSeconds);
  return { ...common, state: 'pending', pause };
}

/** Returns the reason for which the endpoint must be paused now; null if there is no such reason. */
function findPauseReason(
  heldWebhook: HeldWebhook,
  results: readonly DeliveryAttemptResult[],
  secrets: readonly string[],
): WebhookPause | null {
  if (heldWebhook.paused_at !== null) return null;
  if (!heldWebhook.isMakerEntitled) return 'maker_left';
  if (results.some(({ state, tried }) => state === 'pending' && tried.status === goneHttpStatus))
    return 'gone';
  if (results.some(({ state, pause }) => state === 'pending' && pause === null)) return 'failing';
  return secrets.length === 0 ? 'secret_unreadable' : null;
}

/** The position in a stream from which a scan started, and the end of the stream. */
interface ScanRange {
  readonly cursor: number;
  readonly endSeq: number;
}

interface ScanOutcome {
  readonly cursor: number;
  readonly isFull: boolean;
  /** True if more of the stream has to be scanned. */
  readonly more: boolean;
  readonly chosen: number;
}

/** Returns the endpoint's new cursor after a scan of a stream. */
function cursorAfterScan(
  { cursor, endSeq }: ScanRange,
  { waiting, isEnough, looked, lookedUpTo, chosen, chosenUpTo }: WebhookTurnResult,
): ScanOutcome {
  const isFull = isEnough || waiting + chosen >= maxPendingEvents;
  if (isFull) return { cursor: chosenUpTo ?? cursor, isFull, more: false, chosen };
  const more = looked === maxScannedEntries;
  return { cursor: more ? (lookedUpTo ?? cursor) : endSeq, isFull, more, chosen };
}

/** The result of scanning the streams that an endpoint follows. */
interface FollowedScan {
  readonly cursorSeq: number;
  readonly auditCursorSeq: number | null;
  readonly isFull: boolean;
  readonly more: boolean;
  readonly chosen: number;
}

const createEmptyScan = (held: HeldWebhook): FollowedScan => ({
  ...{ cursorSeq: held.cursor_seq, auditCursorSeq: held.audit_cursor_seq },
  ...{ isFull: false, more: false, chosen: 0 },
});

/** Scans the activity, and then the audit if the endpoint receives its entries. */
async function scanFollowedStreams(db: Db, held: HeldWebhook): Promise<FollowedScan> {
  const {
    cursor_seq: cursor,
    activityEndSeq: endSeq,
    audit_cursor_seq: auditCursor,
    sent_seq: sentSeq,
  } = held;
  const activity = held.kinds.every(isAuditKind)
    ? { cursor: endSeq, isFull: false, more: false, chosen: 0 }
    : cursorAfterScan({ cursor, endSeq }, await scanActivity(db, held));
  if (auditCursor === null) return { ...activity, cursorSeq: activity.cursor, auditCursorSeq: null };
  const audit = cursorAfterScan(
    { cursor: auditCursor, endSeq: held.auditEndSeq },
    await scanAudit(db, held, auditCursor, sentSeq + activity.chosen),
  );
  return {
    ...{ cursorSeq: activity.cursor, auditCursorSeq: audit.cursor },
    ...{ isFull: activity.isFull || audit.isFull, more: activity.more || audit.more },
    chosen: activity.chosen + audit.chosen,
  };
}

/** The values with which a round composes its messages. */
interface MessageSources {
  readonly orgId: string;
  readonly cursors: EventCursors;
  readonly messageFormat: MessageFormat;
  /** The entries of audit deliveries that the endpoint's creator may see, by position in the audit. */
  readonly entries: ReadonlyMap<number, AuditEntry>;
}

function toReadyMessage(
  row: ReadyDeliveryRow,
  { orgId, cursors, messageFormat, entries }: MessageSources,
): ReadyMessage {
  const {
    delivery_id: deliveryId,
    event_id: eventId,
    delivery_seq: seq,
    activity_seq: place,
    audit_seq: auditPlace,
    attempts,
  } = row;
  const { format } = messageFormat;
  const bodyOf = (): string => {
    if (seq !== null && auditPlace !== null)
      return auditMessageOf(entries.get(auditPlace), { orgId, seq, at: row.event_at });
    if (seq === null || place === null) return testMessage(row.event_at, row.webhook_id, format);
    const numbered = { seq, cursor: cursors.encode(place) };
    return row.may_hear === true
      ? eventMessage(
          activityItems.shown(row as Parameters<typeof activityItems.shown>[0]),
          numbered,
          messageFormat,
        )
      : withheldMessage(row.event_at, numbered, format);
  };
  return { deliveryId, eventId, seq, attempts, body: bodyOf() };
}

/** Returns the due deliveries. In strict order, a delivery that is not due blocks all later ones. */
function takeWhileDue(rows: readonly ReadyDeliveryRow[]): readonly ReadyDeliveryRow[] {
  const first = rows.findIndex((row) => !row.is_due);
  return first === -1 ? rows : rows.slice(0, first);
}

const auditPositionOf = ({ audit_seq: seq, event_at: at }: ReadyDeliveryRow) =>
  seq === null ? [] : [{ seq, at }];

function countConsecutiveFailures(
  previousFailures: number,
  results: readonly DeliveryAttemptResult[],
): number {
  const last = results.findLastIndex(({ state }) => state === 'delivered');
  return last === -1 ? previousFailures + results.length : results.length - 1 - last;
}

const lastAttemptAt = (results: readonly DeliveryAttemptResult[], wasDelivered: boolean): string | null =>
  results.findLast(({ state }) => (state === 'delivered') === wasDelivered)?.tried.at ?? null;

/**
 * Runs one round of deliveries. If another worker holds the endpoint or the endpoint was deleted, it stores
 * no results and returns undefined.
 */
export async function runDeliveryRound(
  db: Db,
  request: TurnRequest,
  config: TurnConfig,
): Promise<TurnResponse | undefined> {
  const { orgId, webhookId, epoch, sent, withWorker, releasesEndpoint } = request;
  const held = await extendHold(db, webhookId, epoch);
  if (held === undefined) return undefined;
  const [organizationKey, cursors] = [
    await getCachedOrganizationKey(db, orgId),
    await getEventCursors(db, orgId),
  ];
  const secrets = [held.secret, ...(held.previous_secret === null ? [] : [held.previous_secret])]
    .map((sealed) => config.seals.decrypt(webhookSecretOwner(organizationKey, webhookId), sealed))
    .filter((secret) => secret !== undefined);

  const said = sent.map((one) => toAttemptResult(one, Math.random()));
  const kept = new Set(
    said.length === 0 ? [] : (await db.all(storeAttemptResults(said))).map(({ id }) => id),
  );
  const settled = said.filter(({ id }) => kept.has(id));
  const pause = findPauseReason(held, settled, secrets);
  if (pause !== null) await db.all(pauseWebhook(webhookId, pause));
  const isPaused = held.paused_at !== null || pause !== null;

  const scan = isPaused || releasesEndpoint ? createEmptyScan(held) : await scanFollowedStreams(db, held);
  const rows = releasesEndpoint
    ? []
    : await readReadyDeliveries(db, held, isPaused ? 0 : request.most, withWorker);
  const due = takeWhileDue(rows);
  const positions = held.isMakerAdmin ? due.flatMap(auditPositionOf) : [];
  const entries = await readAuditEntries(db, positions);
  const { subjectUrl, consoleUrl } = config;
  const messageFormat = { format: held.format, subjectUrl, consoleUrl };
  const sources = { orgId, cursors, messageFormat, entries };
  const ready = due.map((row) => toReadyMessage(row, sources));
  const isStrict = held.send_order === 'strict';
  const isOver = releasesEndpoint || (ready.length === 0 && withWorker.length === 0 && !scan.more);
  await db.all(
    updateWebhookAfterTurn({
      id: webhookId,
      cursorSeq: scan.cursorSeq,
      auditCursorSeq: scan.auditCursorSeq,
      sentSeq: held.sent_seq + scan.chosen,
      hasMaxPendingEvents: scan.isFull,
      consecutiveFailures: countConsecutiveFailures(held.failing, settled),
      lastSuccessAt: lastAttemptAt(settled, true),
      lastFailureAt: lastAttemptAt(settled, false),
      isPaused,
      isStrictOrder: isStrict,
      releasesHold: isOver,
    }),
  );
  if (pause !== null) {
    const data = { reason: pause, makerId: held.maker_id };
    const domainEvents = [{ kind: 'webhook.paused' as const, subject: webhookSubject(held), data }];
    const facts = systemAuditFacts('worker.webhooks.pause', webhookId);
    await runReactionsAndWriteTrail(db, { orgId, actor: workerActor, domainEvents, facts }, config.reactions);
  }
  return {
    url: held.url,
    format: held.format,
    isStrictOrder: isStrict,
    isPaused,
    secrets,
    readyMessages: ready,
    hasMoreToScan: scan.more,
    isReleased: isOver,
  };
}
