/**
 * Reports usage of meters to the service. Each event is a file until the service has counted or refused it, so events
 * of an offline machine are sent later, and several processes can report at the same time. The service counts each
 * event once, by its id.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { type NoReply } from './asking.ts';
import { writeAtomically } from './cache.ts';
import { currentTimeMillis } from './clock.ts';
import { type StoredLicense, withLicenseKey } from './kept-license.ts';
import { refusalOfNoReply, refusalOfReply, stringFieldOf } from './refusals.ts';
import { isSameKey, type LicenseSession } from './session.ts';
import { createRefusal, type LicenseRefusal } from './standing.ts';

/** The usage of a meter in one period, as the service signed it. */
export interface MeterUsage {
  readonly meter: string;
  /** A month in UTC such as `2027-03`, or `total`. */
  readonly period: string;
  readonly used: number;
  /** Null if there is no limit. */
  readonly limit: number | null;
}

export interface MeterReport {
  /**
   * The service counted the event; or it did not answer, and the event is sent with a later report; or the event was
   * refused, for example because the limit is reached.
   */
  readonly outcome: 'counted' | 'queued' | 'refused';
  /** The reason why the event was not counted: `meter_exceeded`, `unreachable` and others. Null if it was counted. */
  readonly reason: string | null;
  /** The usage of all meters of the license. Empty if the service did not answer. */
  readonly usage: readonly MeterUsage[];
}

export type LicenseUsage =
  | { readonly isKnown: true; readonly usage: readonly MeterUsage[] }
  | (Omit<LicenseRefusal, 'mayRun'> & { readonly isKnown: false });

interface QueuedEvent {
  readonly id: string;
  readonly meter: string;
  readonly quantity: number;
  readonly at: string;
}

/** The most events that wait to be sent. */
const maxQueuedEvents = 1_000;
const maxEventsPerCall = 100;

const queueFolderOf = ({ folder }: LicenseSession): string => path.join(folder, 'usage');

/** Lists the files of waiting events, the oldest first. Their names begin with the time. */
async function listQueue(session: LicenseSession): Promise<string[]> {
  const names = await readdir(queueFolderOf(session)).catch(() => []);
  return names.filter((name) => name.endsWith('.json')).sort();
}

export const hasQueuedUsage = async (session: LicenseSession): Promise<boolean> =>
  (await listQueue(session)).length > 0;

async function readQueuedEvent(file: string, licenseKey: string): Promise<QueuedEvent | undefined> {
  try {
    const { key, ...event } = JSON.parse(await readFile(file, 'utf8')) as QueuedEvent & { key: string };
    return isSameKey(key, licenseKey) ? event : undefined;
  } catch {
    return undefined;
  }
}

async function queueEvent(
  session: LicenseSession,
  { licenseKey, time }: StoredLicense,
  event: Pick<QueuedEvent, 'meter' | 'quantity'>,
): Promise<{ readonly file: string; readonly queued: QueuedEvent }> {
  const folder = queueFolderOf(session);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const id = randomUUID();
  const millis = currentTimeMillis(time, { writtenMillis: session.writtenMillis }) ?? time.latestMillis;
  const queued = { id, ...event, at: new Date(millis).toISOString() };
  const file = path.join(folder, `${String(millis).padStart(15, '0')}-${id}.json`);
  await writeAtomically(folder, file, { key: licenseKey, ...queued });
  return { file, queued };
}

interface SentUsage {
  /** The outcomes of the sent events, by their ids. Null is the reason of an event that was counted. */
  readonly reasonsById: ReadonlyMap<string, string | null>;
  readonly usage: readonly MeterUsage[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const listIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const parseUsage = (value: unknown): MeterUsage[] =>
  listIn(value).flatMap((row) => {
    const { used, limit } = row;
    const [meter, period] = [stringFieldOf(row, 'meter'), stringFieldOf(row, 'period')];
    if (meter === null || period === null || !Number.isSafeInteger(used)) return [];
    return [{ meter, period, used: Number(used), limit: Number.isSafeInteger(limit) ? Number(limit) : null }];
  });

/** Sends events. Returns the signed outcome of each, or the reason why there is none. */
async function sendEvents(
  { machineId, callService }: LicenseSession,
  licenseKey: string,
  events: readonly QueuedEvent[],
): Promise<SentUsage | LicenseRefusal> {
  const reply = await callService({
    method: 'POST',
    target: '/api/usage',
    body: JSON.stringify({ licenseKey, machineId, events }),
  });
  if (reply.kind !== 'heard') return refusalOfNoReply(reply);
  const refusedAll = reply.status === 422 && isObject(reply.body['details']);
  if (reply.status !== 200 && !refusedAll) return refusalOfReply(reply);
  const answer = refusedAll ? (reply.body['details'] as Readonly<Record<string, unknown>>) : reply.body;
  const license = answer['license'];
  const isOwn =
    refusedAll ||
    (isObject(license) &&
      isSameKey(stringFieldOf(license, 'key'), licenseKey) &&
      stringFieldOf(license, 'machineId') === machineId);
  const untrusted: NoReply = { kind: 'untrusted', retryAfterSeconds: null };
  if (!isOwn) return refusalOfNoReply(untrusted);
  const reasonsById = listIn(answer['events']).map((event): [string, string | null] => [
    stringFieldOf(event, 'id') ?? '',
    event['outcome'] === 'refused' ? (stringFieldOf(event, 'reason') ?? 'refused') : null,
  ]);
  return { reasonsById: new Map(reasonsById), usage: parseUsage(answer['meters']) };
}

/** Sends all waiting events of the license in batches, and deletes those that the service has decided. */
async function sendQueue(session: LicenseSession, licenseKey: string): Promise<SentUsage | LicenseRefusal> {
  const reasonsById = new Map<string, string | null>();
  const names = await listQueue(session);
  for (let start = 0; ; start += maxEventsPerCall) {
    const batch = new Map<string, QueuedEvent>();
    for (const name of names.slice(start, start + maxEventsPerCall)) {
      const file = path.join(queueFolderOf(session), name);
      const event = await readQueuedEvent(file, licenseKey);
      // A damaged event, or one of another license, cannot be sent anymore.
      if (event === undefined) await rm(file, { force: true });
      else batch.set(file, event);
    }
    const sent = await sendEvents(session, licenseKey, [...batch.values()]);
    if ('mayRun' in sent) return sent;
    for (const [file, { id }] of batch) {
      const reason = sent.reasonsById.get(id);
      if (reason === undefined) continue;
      reasonsById.set(id, reason);
      // Too many events of one day may be counted on the next day.
      if (reason !== 'too_many_events') await rm(file, { force: true });
    }
    if (start + maxEventsPerCall >= names.length) return { reasonsById, usage: sent.usage };
  }
}

/** Counts usage of a meter. Without an answer of the service the event waits on this machine. */
export async function meterUsage(
  session: LicenseSession,
  meter: string,
  quantity: number,
): Promise<MeterReport> {
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(meter))
    throw new TypeError('meter must be a name in lower case with at most 32 characters');
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > 1_000_000)
    throw new TypeError('quantity must be an integer from 1 to 1000000');
  const license = withLicenseKey(session.kept);
  if (license?.certificate == null) return { outcome: 'refused', reason: 'no_license', usage: [] };
  if ((await listQueue(session)).length >= maxQueuedEvents)
    return { outcome: 'refused', reason: 'too_many_queued', usage: [] };
  const { file, queued } = await queueEvent(session, license, { meter, quantity });
  let sent = await sendQueue(session, license.licenseKey);
  // Another process has sent this event. Its outcome can be asked for again, since it is counted once.
  if (!('mayRun' in sent) && !sent.reasonsById.has(queued.id))
    sent = await sendEvents(session, license.licenseKey, [queued]);
  if ('mayRun' in sent) {
    if (!sent.isFinal) return { outcome: 'queued', reason: sent.reason, usage: [] };
    // The program learns that the event does not count, so it must not count later.
    await rm(file, { force: true });
    return { outcome: 'refused', reason: sent.reason, usage: [] };
  }
  const reason = sent.reasonsById.get(queued.id) ?? null;
  const outcome = reason === null ? 'counted' : reason === 'too_many_events' ? 'queued' : 'refused';
  return { outcome, reason, usage: sent.usage };
}

/** Sends waiting events and returns the usage of all meters of the license. */
export async function readUsage(session: LicenseSession): Promise<LicenseUsage> {
  const license = withLicenseKey(session.kept);
  const sent =
    license === undefined
      ? createRefusal('no_license', { isFinal: true })
      : await sendQueue(session, license.licenseKey);
  if (!('mayRun' in sent)) return { isKnown: true, usage: sent.usage };
  const { mayRun: _, ...refusal } = sent;
  return { ...refusal, isKnown: false };
}
