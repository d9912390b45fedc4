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
} from '@muster/contract';
import { runAsSystem, type HandlerEnvironment } from '@muster/runtime';
import { type DomainEvent, systemAuditFacts } from '@muster/tenancy';
import { z } from 'zod';
import {
  connectionSubject,
  getConnection,
  clearDeliveryError,
  storeUnreadableDelivery,
} from './data/connections.ts';
import {
  pollAnswerIdPrefix,
  lockDelivery,
  storeOutcome,
  type UnprocessedDelivery,
} from './data/deliveries.ts';
import { findWaitKeysOfExecution } from './data/find-execution.ts';
import { findParkedFacts, deleteParkedFacts } from './data/parked.ts';
import { requestPollOfPull } from './data/quiet-pulls.ts';
import {
  type LinkedRepository,
  lockLinkedRepositories,
  lockLinkedRepositoriesOfProject,
  storeRepositoryNames,
} from './data/repositories.ts';
import { createRevertEvents } from './data/reverted.ts';
import { storeCheckReport, recordOrParkFact } from './place.ts';
import { isSuiteOf } from './rules/check-names.ts';
import { DeliveryFact, type DeliveryContent, type Revert } from './rules/fact.ts';
import { isReadEvent, readDelivery } from './rules/translations.ts';

export interface ForgeJobContext {
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

const ignoredOutcome = (reason: string): ForgeOutcome => ({
  ...{ kind: null, executionId: null, result: 'ignored', reason },
});

/** Removes characters that the database cannot store. */
const removeInvalidCharacters = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && !isCleanText(value) ? value.replaceAll('\0', '').toWellFormed() : value;

function readDeliverySafely(
  kind: ForgeKind,
  event: string,
  payload: string,
): DeliveryContent | { readonly failed: string } {
  try {
    return readDelivery(kind, event, parseUntrustedJson(payload, removeInvalidCharacters));
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
async function storeDeliveryFailure(
  db: Db,
  { connectionId, event }: Pick<UnprocessedDelivery, 'connectionId' | 'event'>,
  reason: string,
): Promise<DomainEvent[]> {
  const connection = await getConnection(db, connectionId);
  const message = `Processing a delivery of the event ${event} failed: ${reason}`.slice(0, 500);
  const failure = { at: new Date().toISOString(), doing: 'receive' as const, message };
  const isFirst = await storeUnreadableDelivery(db, connectionId, failure);
  return isFirst
    ? [{ kind: 'forge.deliveriesFailed', subject: connectionSubject(connection), data: {} }]
    : [];
}

function deliveryStateOf(outcome: readonly ForgeOutcome[]): ForgeDeliveryState {
  const results = new Set(outcome.map(({ result }) => result));
  if (results.has('recorded') || results.has('repeated') || results.has('linked')) return 'recorded';
  return results.has('parked') ? 'parked' : 'ignored';
}

/** Requests the reviews from the forge. Its answer is stored as a delivery and says which reviews count. */
async function requestReviews(db: PlainDb, { id }: LinkedRepository, number: number): Promise<ForgeOutcome> {
  const isAsked = (await requestPollOfPull(db, id, number)) > 0;
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
  db.deferToCommit(storeOutcome(deliveryId, 'failed', [ignoredOutcome(reason)]));
  return storeDeliveryFailure(db, delivery, reason);
}

/** Processes a delivery and records its content. A repetition has no effect. */
export async function processDelivery(
  { db, orgId, environment }: ForgeJobContext,
  deliveryId: string,
): Promise<void> {
  const delivery = await lockDelivery(db, deliveryId);
  if (delivery === undefined) return;
  const { kind, event, payload, connectionId, appId, trust, receivedAt } = delivery;
  const reading = readDeliverySafely(kind, event, payload);
  if ('failed' in reading) {
    db.deferToCommit(storeOutcome(deliveryId, 'failed', [ignoredOutcome(reading.failed)]));
    const facts = systemAuditFacts('forge.translate', deliveryId);
    await runAsSystem({ db, orgId, actor: forgeActor(kind), facts }, environment, async (_perform, emit) => {
      for (const failing of await storeDeliveryFailure(db, delivery, reading.failed)) emit(failing);
    });
    return;
  }
  // An event that is always ignored does not show that deliveries are readable again.
  if (isReadEvent(kind, event)) db.deferToCommit(clearDeliveryError(connectionId));
  if ('ignored' in reading) {
    db.deferToCommit(storeOutcome(deliveryId, 'ignored', [ignoredOutcome(reading.ignored)]));
    return;
  }
  const linked = await lockLinkedRepositories(db, connectionId, reading.repository);
  if (linked.length === 0) {
    const { fullName } = reading.repository;
    db.deferToCommit(
      storeOutcome(deliveryId, 'ignored', [ignoredOutcome(`no project is linked to ${fullName}`)]),
    );
    return;
  }
  for (const { id } of linked) db.deferToCommit(storeRepositoryNames(id, reading.repository));
  // The search for work uses both new and former names of a repository, so the new names must be stored
  // first.
  db.flush();
  const outcome: ForgeOutcome[] = [];
  const work = { db, orgId, actor: forgeActor(kind), facts: systemAuditFacts('forge.translate', deliveryId) };
  await runAsSystem(work, environment, async (perform, emit) => {
    for (const repository of linked) {
      const isPollAnswer = delivery.deliveryId.startsWith(pollAnswerIdPrefix);
      const placing = { db, perform, repository, trust, receivedAt, isPollAnswer };
      if (reading.reviewsOfPullNumber !== undefined)
        outcome.push(await requestReviews(db, repository, reading.reviewsOfPullNumber));
      for (const fact of reading.facts) outcome.push(...(await recordOrParkFact(placing, fact)));
      for (const revert of revertsOf(reading)) {
        const events = await createRevertEvents(db, repository, revert);
        for (const event of events) emit(event);
        if (revert === reading.revert) outcome.push(...revertOutcomes(events));
      }
      // The status that an app sends comes back as a check suite of that app.
      for (const check of reading.checks.filter(({ name }) => !isSuiteOf(appId, name)))
        outcome.push(...(await storeCheckReport(placing, check)));
    }
    db.deferToCommit(storeOutcome(deliveryId, deliveryStateOf(outcome), outcome));
  });
}

/** Returns the reverts by merged pull requests and by pushed commits. */
const revertsOf = ({ facts, revert }: Exclude<DeliveryContent, { ignored: string }>): Revert[] => [
  ...facts.flatMap(({ kind, revertedReferences: reverts = [], ...fact }) =>
    kind === 'pr_merged' && reverts.length > 0 ? { ...fact, reverts } : [],
  ),
  ...(revert === undefined ? [] : [revert]),
];

/**
 * Returns the outcome of reverts by pushed commits. Reverts by a pull request are part of the outcome of its
 * merge.
 */
const revertOutcomes = (events: readonly DomainEvent[]): ForgeOutcome[] =>
  events.length === 0
    ? [ignoredOutcome('it reverts no merged work that Muster knows, or the revert is already recorded')]
    : events.map(({ data }) => ({
        ...{ kind: null, executionId: String(data['executionId']), result: 'noted' as const },
        reason: 'a pushed commit reverts its merge',
      }));

const finalResults: ReadonlySet<ForgeOutcome['result']> = new Set(['recorded', 'repeated']);

/** Records parked facts of an execution after it became known or can be identified in more ways. */
export async function replayFacts(
  { db, orgId, environment }: ForgeJobContext,
  executionId: string,
): Promise<void> {
  const execution = await findWaitKeysOfExecution(db, executionId);
  if (execution === undefined) return;
  const linked = await lockLinkedRepositoriesOfProject(db, execution.projectId);
  const parked = await findParkedFacts(
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
    const work = { db, orgId, actor: forgeActor(kind), facts: systemAuditFacts('forge.replay', executionId) };
    const done: string[] = [];
    await runAsSystem(work, environment, async (perform) => {
      for (const { id, fact, trust, repositoryId } of facts) {
        const repository = linked.find((one) => one.id === repositoryId) as LinkedRepository;
        const receivedAt = new Date().toISOString();
        const placed = await recordOrParkFact(
          { db, perform, repository, trust, receivedAt, isPollAnswer: false },
          DeliveryFact.parse(fact),
        );
        if (placed.some(({ result }) => finalResults.has(result))) done.push(id);
      }
      if (done.length > 0) db.deferToCommit(deleteParkedFacts(done));
    });
  }
}
