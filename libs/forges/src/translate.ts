/** The jobs that process the deliveries of forges. */
import { type Db, type PlainDb } from '@muster/driver';
import {
  type Actor,
  isCleanText,
  forgeNames,
  type ForgeDeliveryState,
  type ForgeKind,
  type ForgeOutcome,
  parseUntrustedJson,
} from '@muster/registry';
import { asSystem, type HandlerEnvironment } from '@muster/runtime';
import { type DomainEvent, systemFacts } from '@muster/tenancy';
import { z } from 'zod';
import { aboutConnection, getConnection, noteReadable, noteUnreadable } from './data/connections.ts';
import { askedId, lockDelivery, setOutcome, type Unread } from './data/deliveries.ts';
import { keysOfExecution } from './data/find-execution.ts';
import { findParked, forgetParked } from './data/parked.ts';
import { askAboutNumber } from './data/quiet-pulls.ts';
import { type LinkedRepository, lockLinked, lockLinkedOfProject, noteNames } from './data/repositories.ts';
import { revertedWork } from './data/reverted.ts';
import { placeCheck, placeFact } from './place.ts';
import { isSuiteOf } from './rules/check-names.ts';
import { DeliveryFact, type DeliveryContent, type Revert } from './rules/fact.ts';
import { isRead, read } from './rules/translations.ts';

export interface ForgeWork {
  readonly db: PlainDb;
  readonly orgId: string;
  /** The handlers of operations, and the reactions to events. */
  readonly environment: HandlerEnvironment;
}

/** Returns the actor of forge events: the system, with the forge's display name. */
export const forgeActor = (kind: ForgeKind): Actor => ({
  ...{ kind: 'system', memberId: null, agentId: null },
  name: forgeNames[kind],
});

const ignoredFor = (reason: string): ForgeOutcome => ({
  ...{ kind: null, executionId: null, result: 'ignored', reason },
});

/** Removes characters that the database cannot store. */
const clean = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && !isCleanText(value) ? value.replaceAll('\0', '').toWellFormed() : value;

function readSafely(
  kind: ForgeKind,
  event: string,
  payload: string,
): DeliveryContent | { readonly failed: string } {
  try {
    return read(kind, event, parseUntrustedJson(payload, clean));
  } catch (error) {
    // The body stays unreadable, so a retry would not help.
    if (error instanceof SyntaxError || error instanceof RangeError)
      return { failed: `the body cannot be read: ${error.message}` };
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    return { failed: `unexpected format: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}` };
  }
}

/** Stores in the connection that a delivery cannot be read. Returns an event for the first failure. */
async function failDelivery(
  db: Db,
  { connectionId, event }: Pick<Unread, 'connectionId' | 'event'>,
  reason: string,
): Promise<DomainEvent[]> {
  const connection = await getConnection(db, connectionId);
  const message = `Processing a delivery of the event ${event} failed: ${reason}`.slice(0, 500);
  const failure = { at: new Date().toISOString(), doing: 'receive' as const, message };
  const isFirst = await noteUnreadable(db, connectionId, failure);
  return isFirst ? [{ kind: 'forge.deliveriesFailed', subject: aboutConnection(connection), data: {} }] : [];
}

function stateOf(outcome: readonly ForgeOutcome[]): ForgeDeliveryState {
  const results = new Set(outcome.map(({ result }) => result));
  if (results.has('recorded') || results.has('repeated') || results.has('linked')) return 'recorded';
  return results.has('parked') ? 'parked' : 'ignored';
}

/** Requests the reviews from the forge. Its answer is stored as a delivery and says which reviews count. */
async function askForReviews(db: PlainDb, { id }: LinkedRepository, number: number): Promise<ForgeOutcome> {
  const isAsked = (await askAboutNumber(db, id, number)) > 0;
  const reason = isAsked
    ? 'the reviews of the pull request are being fetched from the forge'
    : 'the pull request belongs to no known work, or the connection has no credentials to fetch its reviews';
  return { kind: null, executionId: null, result: 'noted', reason };
}

/** Gives up a delivery after too many attempts. Returns the resulting events. */
export async function abandonDelivery(db: PlainDb, deliveryId: string): Promise<DomainEvent[]> {
  const delivery = await lockDelivery(db, deliveryId);
  if (delivery === undefined) return [];
  const reason = 'processing failed';
  db.later(setOutcome(deliveryId, 'failed', [ignoredFor(reason)]));
  return failDelivery(db, delivery, reason);
}

/** Processes a delivery and records its content. A repetition has no effect. */
export async function translateDelivery(
  { db, orgId, environment }: ForgeWork,
  deliveryId: string,
): Promise<void> {
  const delivery = await lockDelivery(db, deliveryId);
  if (delivery === undefined) return;
  const { kind, event, payload, connectionId, appId, trust, receivedAt } = delivery;
  const reading = readSafely(kind, event, payload);
  if ('failed' in reading) {
    db.later(setOutcome(deliveryId, 'failed', [ignoredFor(reading.failed)]));
    const facts = systemFacts('forge.translate', deliveryId);
    await asSystem({ db, orgId, actor: forgeActor(kind), facts }, environment, async (_perform, emit) => {
      for (const failing of await failDelivery(db, delivery, reading.failed)) emit(failing);
    });
    return;
  }
  // An event that is always ignored does not show that deliveries are readable again.
  if (isRead(kind, event)) db.later(noteReadable(connectionId));
  if ('ignored' in reading) {
    db.later(setOutcome(deliveryId, 'ignored', [ignoredFor(reading.ignored)]));
    return;
  }
  const linked = await lockLinked(db, connectionId, reading.repository);
  if (linked.length === 0) {
    const { fullName } = reading.repository;
    db.later(setOutcome(deliveryId, 'ignored', [ignoredFor(`no project is linked to ${fullName}`)]));
    return;
  }
  for (const { id } of linked) db.later(noteNames(id, reading.repository));
  // The search for work uses both new and former names of a repository, so the new names must be stored
  // first.
  db.flush();
  const outcome: ForgeOutcome[] = [];
  const work = { db, orgId, actor: forgeActor(kind), facts: systemFacts('forge.translate', deliveryId) };
  await asSystem(work, environment, async (perform, emit) => {
    for (const repository of linked) {
      const isAnswer = delivery.deliveryId.startsWith(askedId);
      const placing = { db, perform, repository, trust, receivedAt, isAnswer };
      if (reading.reviewsOf !== undefined)
        outcome.push(await askForReviews(db, repository, reading.reviewsOf));
      for (const fact of reading.facts) {
        outcome.push(...(await placeFact(placing, fact)));
      }
      for (const revert of revertsOf(reading)) {
        const events = await revertedWork(db, repository, revert);
        for (const event of events) emit(event);
        if (revert === reading.revert) outcome.push(...outcomeOfRevert(events));
      }
      // The status that an app sends comes back as a check suite of that app.
      for (const check of reading.checks.filter(({ name }) => !isSuiteOf(appId, name)))
        outcome.push(...(await placeCheck(placing, check)));
    }
    db.later(setOutcome(deliveryId, stateOf(outcome), outcome));
  });
}

/** Returns the reverts by merged pull requests and by pushed commits. */
const revertsOf = ({ facts, revert }: Exclude<DeliveryContent, { ignored: string }>): Revert[] => [
  ...facts.flatMap(({ kind, reverts = [], ...fact }) =>
    kind === 'pr_merged' && reverts.length > 0 ? { ...fact, reverts } : [],
  ),
  ...(revert === undefined ? [] : [revert]),
];

/**
 * Returns the outcome of reverts by pushed commits. Reverts by a pull request are part of the outcome of its
 * merge.
 */
const outcomeOfRevert = (events: readonly DomainEvent[]): ForgeOutcome[] =>
  events.length === 0
    ? [ignoredFor('it reverts no merged work that Muster knows, or the revert is already recorded')]
    : events.map(({ data }) => ({
        ...{ kind: null, executionId: String(data['executionId']), result: 'noted' as const },
        reason: 'a pushed commit reverts its merge',
      }));

const settled: ReadonlySet<ForgeOutcome['result']> = new Set(['recorded', 'repeated']);

/** Records parked facts of an execution after it became known or can be identified in more ways. */
export async function replayFacts({ db, orgId, environment }: ForgeWork, executionId: string): Promise<void> {
  const execution = await keysOfExecution(db, executionId);
  if (execution === undefined) return;
  const linked = await lockLinkedOfProject(db, execution.projectId);
  const parked = await findParked(
    db,
    linked.map(({ id }) => id),
    execution.keys,
  );
  // Facts are grouped by forge, because the forge is the actor of the resulting events.
  const byKind = Map.groupBy(
    parked,
    ({ repositoryId }) => linked.find(({ id }) => id === repositoryId)?.kind,
  );
  for (const [kind, facts] of byKind) {
    if (kind === undefined) continue;
    const work = { db, orgId, actor: forgeActor(kind), facts: systemFacts('forge.replay', executionId) };
    const done: string[] = [];
    await asSystem(work, environment, async (perform) => {
      for (const { id, fact, trust, repositoryId } of facts) {
        const repository = linked.find((one) => one.id === repositoryId) as LinkedRepository;
        const receivedAt = new Date().toISOString();
        const placed = await placeFact(
          { db, perform, repository, trust, receivedAt, isAnswer: false },
          DeliveryFact.parse(fact),
        );
        if (placed.some(({ result }) => settled.has(result))) done.push(id);
      }
      if (done.length > 0) db.later(forgetParked(done));
    });
  }
}
