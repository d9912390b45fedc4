/**
 * Reports usage of meters to the service. Each event is a file until the service has counted or refused it, so events
 * of an offline machine are sent later, and several processes can report at the same time. The service counts each
 * event once, by its id.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeAtomically } from './cache.ts';
import { currentTimeMillis } from './clock.ts';
import { licenseOfReply, untrustedReply } from './granted.ts';
import { decideOffline, readStoredCertificate, type StoredLicense, withLicenseKey } from './kept-license.ts';
import { type LicenseUsage, type MeterReport, type MeterUsage } from './meter-usage.ts';
import { refusalOfNoReply, refusalOfReply, stringFieldOf, toUnknown } from './refusals.ts';
import { isSameKey, type LicenseSession } from './session.ts';
import { createRefusal, type LicenseRefusal } from './standing.ts';
import { isSystemError } from './system-error.ts';

interface UsageEvent {
  readonly id: string;
  readonly meter: string;
  readonly quantity: number;
  readonly at: string;
}

/** The contents of the file of an event. */
interface StoredEvent extends UsageEvent {
  readonly key: string;
  /** The id of the license, which stays when its key is replaced. Null if the certificate is not genuine. */
  readonly license: string | null;
}

/** The most events that wait to be sent, and about the most that wait for another day. */
const maxQueuedEvents = 1_000;
const maxEventsPerCall = 100;
const millisPerDay = 86_400_000;
/** The service accepts events until this age. */
const maxEventAgeMillis = 35 * millisPerDay;

const queueFolderOf = ({ folder }: LicenseSession): string => path.join(folder, 'usage');
const formatMillis = (millis: number): string => String(millis).padStart(15, '0');

const nowMillisOf = ({ writtenMillis }: LicenseSession, { time }: StoredLicense): number =>
  currentTimeMillis(time, { writtenMillis }) ?? time.latestMillis;

/**
 * Lists the files of waiting events, the oldest first. The name of a postponed event begins with `later` and the time
 * from which it is sent.
 */
async function listQueue(
  session: LicenseSession,
  license: StoredLicense,
): Promise<{ readonly due: readonly string[]; readonly postponed: readonly string[] }> {
  const folder = queueFolderOf(session);
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  });
  const files = names.filter((name) => name.endsWith('.json')).sort();
  const now = nowMillisOf(session, license);
  const isPostponed = (name: string): boolean => Number(/^later-(\d{15})-/.exec(name)?.[1] ?? 0) > now;
  const pathOf = (name: string): string => path.join(folder, name);
  return {
    due: files.filter((name) => !isPostponed(name)).map(pathOf),
    postponed: files.filter(isPostponed).map(pathOf),
  };
}

const isQueueFull = async (session: LicenseSession, license: StoredLicense): Promise<boolean> =>
  (await listQueue(session, license)).due.length >= maxQueuedEvents;

/** Deletes an event, whose file may have been postponed. */
async function deleteEvent(session: LicenseSession, license: StoredLicense, id: string): Promise<void> {
  const { due, postponed } = await listQueue(session, license);
  for (const file of [...due, ...postponed])
    if (file.endsWith(`-${id}.json`)) await rm(file, { force: true });
}

/** Keeps an event until the next day of the service. Another process may have moved or deleted it. */
async function postponeEvent(
  session: LicenseSession,
  { file, id }: WaitingEvent,
  serverMillis: number,
): Promise<void> {
  const nextDay = (Math.floor(serverMillis / millisPerDay) + 1) * millisPerDay;
  const postponed = path.join(queueFolderOf(session), `later-${formatMillis(nextDay)}-${id}.json`);
  await rename(file, postponed).catch((error: unknown) => {
    if (!isSystemError(error, 'ENOENT')) throw error;
  });
}

type WaitingEvent = StoredEvent & { readonly file: string };

function parseStoredEvent(text: string): StoredEvent | undefined {
  try {
    const event = JSON.parse(text) as Partial<StoredEvent> | null;
    const texts = [event?.key, event?.id, event?.meter, event?.at];
    return texts.every((one) => typeof one === 'string') ? (event as StoredEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the events that are due, and deletes damaged files. A file that cannot be read now stays for later. */
async function readDueEvents(session: LicenseSession, license: StoredLicense): Promise<WaitingEvent[]> {
  const events: WaitingEvent[] = [];
  for (const file of (await listQueue(session, license)).due) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const event = parseStoredEvent(text);
    if (event === undefined) await rm(file, { force: true });
    else events.push({ ...event, file });
  }
  return events;
}

const storeEvent = (session: LicenseSession, { file, ...event }: WaitingEvent): Promise<void> =>
  writeAtomically(queueFolderOf(session), file, event);

const licenseIdOf = ({ ring }: LicenseSession, license: StoredLicense): string | null =>
  readStoredCertificate(license, ring)?.lic ?? null;

async function queueEvent(
  session: LicenseSession,
  stored: StoredLicense,
  event: Pick<UsageEvent, 'meter' | 'quantity'>,
): Promise<WaitingEvent> {
  const folder = queueFolderOf(session);
  const id = randomUUID();
  const millis = nowMillisOf(session, stored);
  const queued = {
    ...{ id, ...event, at: new Date(millis).toISOString() },
    ...{ key: stored.licenseKey, license: licenseIdOf(session, stored) },
    file: path.join(folder, `${formatMillis(millis)}-${id}.json`),
  };
  await storeEvent(session, queued);
  return queued;
}

/** The result of sending events. */
interface SentUsage {
  /** The outcomes of the decided events, by their ids. Null is the reason of an event that was counted. */
  readonly reasonsById: ReadonlyMap<string, string | null>;
  readonly usage: readonly MeterUsage[];
  /** The reason why the other events were not decided. */
  readonly refusal?: LicenseRefusal;
  /** The time of the service. 0 if it did not answer. */
  readonly serverMillis: number;
}

const isUnanswered = ({ refusal }: Pick<SentUsage, 'refusal'>): boolean =>
  refusal?.reason === 'unreachable' || refusal?.reason === 'untrusted';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const recordListOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const parseUsage = (value: unknown): MeterUsage[] =>
  recordListOf(value).flatMap((row) => {
    const { used, limit } = row;
    const [meter, period] = [stringFieldOf(row, 'meter'), stringFieldOf(row, 'period')];
    if (meter === null || period === null || !Number.isSafeInteger(used)) return [];
    return [{ meter, period, used: Number(used), limit: Number.isSafeInteger(limit) ? Number(limit) : null }];
  });

/** Sends at most 100 events. */
async function sendEvents(
  { machineId, callService }: LicenseSession,
  licenseKey: string,
  waiting: readonly WaitingEvent[],
): Promise<SentUsage> {
  const events = waiting.map(({ id, meter, quantity, at }) => ({ id, meter, quantity, at }));
  const reply = await callService({
    method: 'POST',
    target: '/api/usage',
    body: JSON.stringify({ licenseKey, machineId, events }),
  });
  const refused = (refusal: LicenseRefusal, serverMillis = 0): SentUsage => ({
    ...{ reasonsById: new Map(), usage: [], refusal, serverMillis },
  });
  if (reply.kind !== 'heard') return refused(refusalOfNoReply(reply));
  const serverMillis = reply.serverSeconds * 1_000;
  const refusedAll = reply.status === 422 && isObject(reply.body['details']);
  if (reply.status !== 200 && !refusedAll) return refused(refusalOfReply(reply), serverMillis);
  const answer = refusedAll ? (reply.body['details'] as Readonly<Record<string, unknown>>) : reply.body;
  const isOwn = refusedAll || licenseOfReply(reply, { licenseKey, machineId }) !== undefined;
  if (!isOwn) return refused(refusalOfNoReply(untrustedReply));
  const reasonsById = recordListOf(answer['events']).map((event): [string, string | null] => [
    stringFieldOf(event, 'id') ?? '',
    event['outcome'] === 'refused' ? (stringFieldOf(event, 'reason') ?? 'refused') : null,
  ]);
  return { reasonsById: new Map(reasonsById), usage: parseUsage(answer['meters']), serverMillis };
}

/** Deletes the file of a decided event, or keeps it if the event may be counted later. */
async function settleEvent(
  session: LicenseSession,
  event: WaitingEvent,
  { reason, serverMillis }: { readonly reason: string | null; readonly serverMillis: number },
): Promise<void> {
  if (reason === 'too_many_events') await postponeEvent(session, event, serverMillis);
  // The clock was ahead when the program used the meter, so the event is at most as late as this answer.
  else if (reason === 'in_future')
    await storeEvent(session, { ...event, at: new Date(serverMillis).toISOString() });
  else await rm(event.file, { force: true });
}

/** Sends events of one license in batches. */
async function sendInBatches(
  session: LicenseSession,
  licenseKey: string,
  waiting: readonly WaitingEvent[],
): Promise<SentUsage> {
  const reasonsById = new Map<string, string | null>();
  for (let start = 0; ; start += maxEventsPerCall) {
    const batch = waiting.slice(start, start + maxEventsPerCall);
    const sent = await sendEvents(session, licenseKey, batch);
    for (const event of batch) {
      const reason = sent.reasonsById.get(event.id);
      if (reason === undefined) continue;
      reasonsById.set(event.id, reason);
      await settleEvent(session, event, { reason, serverMillis: sent.serverMillis });
    }
    if (sent.refusal !== undefined || start + maxEventsPerCall >= waiting.length)
      return { ...sent, reasonsById };
  }
}

/**
 * Sends all due events, those of earlier licenses by their own keys. Returns the result of the current license. Events of
 * a key that the service refuses wait for another day, until they are too old.
 */
async function sendQueue(session: LicenseSession, license: StoredLicense): Promise<SentUsage> {
  const { licenseKey } = license;
  const waiting = await readDueEvents(session, license);
  const isOwn = isEventOf(session, license);
  const result = await sendInBatches(session, licenseKey, waiting.filter(isOwn));
  if (isUnanswered(result)) return result;
  const others = waiting.filter((event) => !isOwn(event));
  for (const key of new Set(others.map((event) => event.key))) {
    const ofKey = others.filter((event) => event.key === key);
    const sent = await sendInBatches(session, key, ofKey);
    if (isUnanswered(sent)) break;
    if (sent.refusal === undefined) continue;
    for (const event of ofKey)
      if (Date.parse(event.at) < sent.serverMillis - maxEventAgeMillis) await rm(event.file, { force: true });
      else await postponeEvent(session, event, sent.serverMillis);
  }
  return result;
}

/** Returns a function that finds the events of a license, also those of an earlier key of it. */
function isEventOf(session: LicenseSession, stored: StoredLicense): (event: StoredEvent) => boolean {
  const ownId = licenseIdOf(session, stored);
  return ({ key, license }) => isSameKey(key, stored.licenseKey) || (license !== null && license === ownId);
}

interface QueueSends {
  readonly running: Promise<SentUsage>;
  nextSend?: Promise<SentUsage>;
}

/** The sends of this process that run now, by folder and key. */
const runningSends = new Map<string, QueueSends>();

/** Sends the queue like `sendQueue`. Calls during a send share the next one, so a busy program makes few requests. */
function sendQueueShared(session: LicenseSession, license: StoredLicense): Promise<SentUsage> {
  const name = JSON.stringify([session.folder, license.licenseKey]);
  const start = (): Promise<SentUsage> => {
    const sends = { running: sendQueue(session, license) };
    runningSends.set(name, sends);
    return sends.running.finally(() => {
      if (runningSends.get(name) === sends) runningSends.delete(name);
    });
  };
  const sends = runningSends.get(name);
  if (sends === undefined) return start();
  sends.nextSend ??= sends.running.then(async (sent) => {
    // Without an answer the next send would only wait for another one.
    if (isUnanswered(sent)) return sent;
    const next = await start();
    // The send that ran may have found events that were stored after it began.
    return { ...next, reasonsById: new Map([...sent.reasonsById, ...next.reasonsById]) };
  }, start);
  return sends.nextSend;
}

const refusedReport = (reason: string): MeterReport => ({ outcome: 'refused', reason, usage: [] });

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
  if (license?.certificate == null) return refusedReport('no_license');
  if (await isQueueFull(session, license)) {
    const { refusal } = await sendQueueShared(session, license);
    if (refusal !== undefined && !isUnanswered({ refusal })) return refusedReport(refusal.reason);
    if (await isQueueFull(session, license)) return refusedReport('too_many_queued');
  }
  const queued = await queueEvent(session, license, { meter, quantity });
  let sent = await sendQueueShared(session, license);
  // Another process has sent this event. Its outcome can be asked for again, since it is counted once.
  if (sent.refusal === undefined && !sent.reasonsById.has(queued.id))
    sent = await sendInBatches(session, license.licenseKey, [queued]);
  const { refusal, usage } = sent;
  const reason = sent.reasonsById.get(queued.id) ?? null;
  // The program learns that a refused event does not count, so it must not count later.
  if (refusal !== undefined && !sent.reasonsById.has(queued.id)) {
    const standing = isUnanswered(sent) ? await decideOffline(session) : refusal;
    if (standing.mayRun) return { outcome: 'queued', reason: refusal.reason, usage };
    await deleteEvent(session, license, queued.id);
    return refusedReport(standing.reason);
  }
  if (reason === 'too_many_events') {
    const { postponed } = await listQueue(session, license);
    if (postponed.length > maxQueuedEvents) await deleteEvent(session, license, queued.id);
    return { outcome: postponed.length > maxQueuedEvents ? 'refused' : 'queued', reason, usage };
  }
  return {
    outcome: reason === null ? 'counted' : reason === 'in_future' ? 'queued' : 'refused',
    reason,
    usage,
  };
}

/** Sends waiting events and returns the usage of all meters of the license. */
export async function readUsage(session: LicenseSession): Promise<LicenseUsage> {
  const license = withLicenseKey(session.kept);
  const { usage, refusal } =
    license === undefined
      ? { usage: [], refusal: createRefusal('no_license', { isFinal: true }) }
      : await sendQueueShared(session, license);
  return refusal === undefined ? { isKnown: true, usage } : toUnknown(refusal);
}

/**
 * Sends waiting events before the license is released, because a machine without a license reports nothing. Returns a
 * refusal if events of the license must wait, and undefined if the license can be released.
 */
export async function sendUsageBeforeRelease(
  session: LicenseSession,
  license: StoredLicense,
): Promise<LicenseRefusal | undefined> {
  const before = await listQueue(session, license);
  if (before.due.length + before.postponed.length === 0) return undefined;
  const sent = await sendQueueShared(session, license);
  // After any other refusal the service decides about the release.
  if (sent.refusal !== undefined) return isUnanswered(sent) ? sent.refusal : undefined;
  const { due, postponed } = await listQueue(session, license);
  const isOwn = isEventOf(session, license);
  for (const file of [...due, ...postponed]) {
    const event = parseStoredEvent(await readFile(file, 'utf8').catch(() => ''));
    if (event !== undefined && isOwn(event)) return createRefusal('unsent_usage');
  }
  return undefined;
}
