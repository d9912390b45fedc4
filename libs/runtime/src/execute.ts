/** Runs the pipeline of every call on every surface, in this order. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Db, currentOrgId, type Pool, sql } from '@muster/driver';
import {
  effectiveOrgRole,
  type Actor,
  effectivePolicy,
  groundsOf,
  type Operation,
  orgRank,
  Policy,
  refusal,
  type ResultOf,
  type Subject,
} from '@muster/contract';
import {
  type DomainEvent,
  hasLinkedRepository,
  inOrganization,
  type AccessCheckInput,
} from '@muster/tenancy';
import { serializeWithinLimit } from './answer-size.ts';
import { runInSavepoint } from './attempt.ts';
import { buildAuditFacts } from './audit-facts.ts';
import { executeBatch } from './batch.ts';
import { runReactionsAndWriteTrail } from './conclude.ts';
import { isIdentityStale, isTransientFailure, toApiError } from './errors.ts';
import {
  type WaitCondition,
  type Caller,
  type HandlerEnvironment,
  type Handler,
  type HandlerContext,
} from './handle.ts';
import {
  claimKey,
  fingerprintOf,
  mayBeAnsweredAlready,
  isDuplicateInProgress,
  storeResponse,
  findStoredResponse,
} from './idempotency.ts';
import { lockAgainstArchiving, isRefusedWhenArchived } from './archived.ts';
import { auditRefusal } from './audit-refusal.ts';
import { mayReadAtStandby } from './at-standby.ts';
import { requireOneOfGrounds, requireToken } from './grounds.ts';
import { type OperationCall } from './operation-call.ts';
import { parseParams } from './parse.ts';
import { getProjectRank } from './project-rank.ts';
import { replaceNamesWithIds } from './references.ts';
import { targetIdOf, targetOf, targetParamOf } from './target.ts';
import { type AuthenticatedToken } from './tokens.ts';

/** The outcome of a call's transaction. */
interface CallOutcome {
  /** The result as JSON text. */
  readonly json: string;
  /** True if the result is the stored first response to the Idempotency-Key. */
  readonly replayed: boolean;
  /**
   * The condition that the caller asked to wait for and that has not occurred yet. The transport waits and
   * then executes the call again.
   */
  readonly waitCondition: WaitCondition | null;
}

/** Rolls back a write that waits for events, and carries its outcome out of the transaction. */
class WriteWaits extends Error {
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome) {
    super('the write waits for events');
    this.name = 'WriteWaits';
    this.outcome = outcome;
  }
}

export interface OperationResponse extends CallOutcome {
  /** The position of the write-ahead log, for later calls; null without a standby. */
  readonly walPosition: string | null;
}

/**
 * The number of attempts before a transient failure becomes a 503. A delay separates the attempts. A deadlock
 * victim that retried immediately would lock the row again before the winner has woken up, and cause the next
 * deadlock.
 */
const maxAttempts = 3;

/** The environment of a handler that uses no other handlers. */
const emptyEnvironment: HandlerEnvironment = { handlers: new Map(), reactions: [] };

/** The default policy, parsed once, since nearly every organization uses it. */
const defaultPolicy = Policy.parse({});

interface StoredPolicy {
  readonly policy: object;
  readonly isLinked: boolean;
}

const effectivePolicyOf = ({ policy, isLinked }: StoredPolicy): Policy =>
  isLinked || Object.keys(policy).length > 0 ? effectivePolicy(policy, isLinked) : defaultPolicy;

const selectStoredPolicy = () =>
  sql<StoredPolicy>`select policy, not policy ? 'mergeProof' and ${hasLinkedRepository} as "isLinked"
    from orgs where id = ${currentOrgId}`;

function callerOf({ identity }: AuthenticatedToken): Caller {
  const actor: Actor = {
    kind: identity.agentId === null ? 'member' : 'agent',
    memberId: identity.memberId,
    agentId: identity.agentId,
    name: identity.agentName ?? identity.memberName,
  };
  return {
    orgId: identity.orgId,
    memberId: identity.memberId,
    agentId: identity.agentId,
    tokenId: identity.tokenId,
    tokenHash: identity.tokenHash,
    scopes: identity.scopes,
    projectIds: identity.projectIds,
    actor,
  };
}

/**
 * Executes an operation for a caller whose token its transport has authenticated (tokens.ts). The numbers in
 * the comments give the order of the steps. Throws an ApiError, or an error that toApiError converts.
 */
export async function execute(
  pool: Pool,
  handler: Handler,
  call: OperationCall,
  environment: HandlerEnvironment = emptyEnvironment,
): Promise<OperationResponse> {
  if (handler.batch !== undefined)
    return executeBatch(handler, handler.batch, call, (single, itsCall) =>
      execute(pool, single, itsCall, environment),
    );
  let { token } = call;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await executeAttempt(pool, handler, { ...call, token }, environment);
    } catch (error) {
      if (!isIdentityStale(error)) throw error;
      if (attempt === maxAttempts) throw toApiError(error);
      // The attempt was rolled back. The caller's token is looked up again, because it may have ended, or its
      // session may lack a sign-in method that the policy requires. Then the call starts from the beginning.
      token = await token.reauthenticate();
    }
  }
}

/**
 * Throws an error recognized by isIdentityStale if the token has ended, or if its access differs from its
 * cached identity.
 */
async function executeAttempt(...[pool, handler, call, environment]: Required<Parameters<typeof execute>>) {
  const { operation } = handler;
  const caller = callerOf(call.token);
  try {
    // 1. Parameters are parsed against the contract: 400 with every invalid field.
    const params = parseParams(operation, call.params);
    // 2. The token must have the operation's scope. Tokens of agents and bound tokens may not call every
    // operation: 403.
    requireToken(operation, call.token);
    // Steps 3 to 7 run in one transaction, which is repeated after a transient failure.
    return await executeWithRetries(pool, { handler, caller, call, params, environment });
  } catch (error) {
    if (isIdentityStale(error)) throw error;
    const known = toApiError(error, targetParamOf(operation, call.params));
    if (known.code === 'unauthorized') call.token.evictFromCache();
    // 8. A sensitive operation that was forbidden leaves an audit entry of its own.
    if (known.code === 'forbidden' && operation.auditsRefusal)
      await auditRefusal(pool, operation, caller, call, known);
    throw known.code === 'internal' ? error : known;
  }
}

/** A call that may open its transaction. */
interface ValidatedCall {
  readonly handler: Handler;
  readonly caller: Caller;
  readonly call: OperationCall;
  readonly params: Record<string, unknown>;
  readonly environment: HandlerEnvironment;
}

/** The Idempotency-Key of a write, and the fingerprint that identifies a repetition of the same call. */
interface CallIdempotencyKey {
  readonly value: string;
  readonly fingerprint: Buffer;
}

function idempotencyKeyOf({
  handler: { operation },
  call,
  params,
}: ValidatedCall): CallIdempotencyKey | null {
  const value = operation.effect === 'write' ? call.idempotencyKey : null;
  return value === null ? null : { value, fingerprint: fingerprintOf(operation, params) };
}

async function executeWithRetries(pool: Pool, validatedCall: ValidatedCall): Promise<OperationResponse> {
  const { handler, caller, call, params } = validatedCall;
  const { operation } = handler;
  const key = idempotencyKeyOf(validatedCall);
  const { standby } = validatedCall.environment;
  let walPosition: string | null = null;
  const accessCheckInput: AccessCheckInput = {
    // 3. The tenant transaction opens. Token, membership and role are checked again, or the cached rights are
    // confirmed. The check finds the record named first (`WEB-42` becomes its id), its project, and the
    // caller's role there: 401, 403, 404.
    effect: operation.effect,
    tokenHash: call.token.identity.tokenHash,
    orgId: caller.orgId,
    cachedRights: call.token.rights,
    requiredOrgRank: operation.access.kind === 'org' ? orgRank(operation.access.role) : 1,
    target: targetOf(operation, params),
    // 4. A write with an Idempotency-Key claims the key. If the key was used before, the stored first
    // response is returned (`replay`).
    claim: key === null ? null : claimKey(caller, operation, key.value, key.fingerprint),
    onWalPosition:
      standby &&
      ((at) => {
        walPosition = at;
      }),
  };
  if (standby !== undefined && mayReadAtStandby(operation)) {
    const read = (session: TenantTransaction) =>
      runInTransaction(session, validatedCall, accessCheckInput, key);
    const answer = await standby.read(accessCheckInput, call.walPosition ?? null, read);
    if (answer !== undefined) return { ...answer.result, walPosition: answer.position };
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const outcome = await inOrganization(pool, accessCheckInput, (session) =>
        runInTransaction(session, validatedCall, accessCheckInput, key),
      );
      return { ...outcome, walPosition };
    } catch (error) {
      if (error instanceof WriteWaits) return { ...error.outcome, walPosition };
      if (isTransientFailure(error) && attempt < maxAttempts) {
        await pause(attempt * (10 + Math.random() * 20));
        continue;
      }
      const replayed =
        key === null
          ? undefined
          : await readReplayedResponse(pool, validatedCall, { visit: accessCheckInput, key, error });
      if (replayed === undefined) throw error;
      return { ...replayed, walPosition };
    }
  }
}

type TenantTransaction = Parameters<Parameters<typeof inOrganization>[2]>[0];

/** Runs the steps between the beginning of the transaction and its COMMIT. */
async function runInTransaction(
  session: TenantTransaction,
  validatedCall: ValidatedCall,
  { target }: AccessCheckInput,
  key: CallIdempotencyKey | null,
): Promise<CallOutcome> {
  const { handler, caller, call, environment } = validatedCall;
  const { operation } = handler;
  const domainEvents: DomainEvent[] = [];
  // 5. A write into an archived project is refused, unless the contract leaves the decision to the handler.
  // The check is sent before any statement of the handler and holds until COMMIT, so that nothing is written
  // after the archiving.
  const archived = isRefusedWhenArchived(operation) ? lockAgainstArchiving(session) : undefined;
  // Members and agents named by handle or slug are resolved after the authorization check, all in one
  // statement.
  const replaced = replaceNamesWithIds(session, caller.memberId, operation, validatedCall.params);
  const params = replaced === undefined ? validatedCall.params : await replaced;
  // 6. The handler runs. Its first statements are pipelined with steps 3 to 5, so it may start before those
  // are answered. If one of them fails, that failure is the response, and nothing of the handler is kept.
  const said: { isUnchanged: boolean; waitCondition: WaitCondition | null } = {
    isUnchanged: false,
    waitCondition: null,
  };
  const waitForNewEvents = (awaited: WaitCondition): void => {
    if (call.isLastAttempt !== true) said.waitCondition = awaited;
  };
  const reportNoChange = (): void => {
    said.isUnchanged = true;
  };
  const transaction = {
    session,
    target,
    domainEvents,
    environment,
    waitForNewEvents,
    changedNothing: reportNoChange,
  };
  const result = await runHandler(handler, caller, params, transaction);
  if (operation.effect === 'read') {
    const { json } = serializeWithinLimit(result, environment.maxPageBytes);
    return { json, replayed: false, waitCondition: said.waitCondition };
  }
  const json = JSON.stringify(result);
  if ((await archived) === true) throw refusal('archived');
  if (said.waitCondition !== null)
    throw new WriteWaits({ json, replayed: false, waitCondition: said.waitCondition });
  // 7. The writes of the stored response, the reactions to events and the audit entry are pipelined with
  // COMMIT.
  if (key !== null)
    session.deferToCommit(
      storeResponse(caller, operation, key.value, validatedCall.params, withoutSecret(operation, result)),
    );
  if (said.isUnchanged && domainEvents.length > 0)
    throw new Error(`${operation.name} reported an event and that nothing changed`);
  if (!said.isUnchanged) {
    const { orgId, actor } = caller;
    const facts = buildAuditFacts(operation, { ...call, params }, { result, domainEvents });
    await runReactionsAndWriteTrail(session, { orgId, actor, domainEvents, facts }, environment.reactions);
  }
  return { json, replayed: false, waitCondition: null };
}

/**
 * Returns the stored first response to the key, if any. This also applies if the effect of the first call
 * causes the second one to be refused (the record was deleted, the role handed over). Returns undefined if
 * the error is this call's own.
 */
async function readReplayedResponse(
  pool: Pool,
  { handler, caller, params, environment }: ValidatedCall,
  {
    visit,
    key,
    error,
  }: { readonly visit: AccessCheckInput; readonly key: CallIdempotencyKey; readonly error: unknown },
): Promise<CallOutcome | undefined> {
  const { operation, reissueSecret } = handler;
  if (isDuplicateInProgress(error)) throw refusal('idempotency_in_flight');
  if (!mayBeAnsweredAlready(error)) return undefined;
  const json = await inOrganization(
    pool,
    { ...visit, effect: 'read', requiredOrgRank: 1, target: null, claim: null },
    (session) => findStoredResponse(session, caller, operation, key.value, key.fingerprint, params),
  );
  if (json === undefined) return undefined;
  if (reissueSecret === undefined) return { json, replayed: true, waitCondition: null };
  const kept = JSON.parse(json) as Record<string, unknown>;
  const fresh = await inOrganization(pool, { ...visit, claim: null }, (session) => {
    const transaction = {
      session,
      target: visit.target,
      domainEvents: [],
      environment,
      waitForNewEvents: refuseToWait,
      changedNothing: () => undefined,
    };
    return reissueSecret(createHandlerContext(operation, caller, params, transaction), kept);
  });
  return { json: JSON.stringify(fresh), replayed: true, waitCondition: null };
}

export function refuseToWait(): never {
  throw new Error('this call cannot wait for events');
}

/** Returns the part of a result that may be stored: its secret is replaced by an empty text. */
const withoutSecret = ({ secret }: Operation, result: Record<string, unknown>): Record<string, unknown> =>
  secret === null ? result : { ...result, [secret]: '' };

/** The functions of the transaction that handlers use. */
type TransactionSession = Db & Pick<TenantTransaction, 'entry' | 'flush' | 'discard'>;

/** One transaction, for the handlers that run in it. */
interface Transaction {
  readonly session: TransactionSession;
  /** The record that the call names, even while a performed operation runs. */
  readonly target: AccessCheckInput['target'];
  readonly domainEvents: DomainEvent[];
  readonly environment: HandlerEnvironment;
  readonly waitForNewEvents: HandlerContext<Operation>['waitForNewEvents'];
  readonly changedNothing: HandlerContext<Operation>['reportNoChange'];
}

/**
 * Runs a handler. If the contract names grounds for the operation, throws an error unless the handler has
 * called requireGround.
 */
async function runHandler(
  handler: Handler,
  caller: Caller,
  params: Record<string, unknown>,
  transaction: Transaction,
): Promise<Record<string, unknown>> {
  const { operation } = handler;
  const context = createHandlerContext(operation, caller, params, transaction);
  let wasAsked = groundsOf(operation.access).length === 0;
  const result = await handler.run({
    ...context,
    requireGround: async (...held) => {
      wasAsked = true;
      await context.requireGround(...held);
    },
  });
  if (!wasAsked) throw new Error(`${operation.name} finished without checking its required access`);
  return result;
}

export function createHandlerContext(
  operation: Operation,
  caller: Caller,
  params: Record<string, unknown>,
  transaction: Transaction,
): HandlerContext<Operation> {
  const { session, domainEvents, environment, waitForNewEvents, changedNothing } = transaction;
  return {
    targetId: targetIdOf(targetOf(operation, params), transaction.target),
    params,
    caller,
    db: session,
    access: async () => {
      const { at, orgRole, targetId, projectId } = await session.entry();
      return { at, actingRole: effectiveOrgRole(orgRole, caller.scopes), targetId, projectId };
    },
    requireGround: async (...held) => {
      const { orgRole } = await session.entry();
      requireOneOfGrounds(groundsOf(operation.access), held, orgRole, caller);
    },
    policy: async () => effectivePolicyOf(await session.one(selectStoredPolicy())),
    claimSlug: async (slug) => (await environment.claimSlug?.(caller.orgId, slug)) ?? true,
    queryAllServers: async (query) => {
      // The authorization check comes first; if it fails, no other server is queried.
      const own = await session.all(query);
      const { orgId, tokenHash } = caller;
      const others =
        tokenHash === null ? [] : await environment.queryOtherServers?.({ orgId, tokenHash }, query);
      return [own, ...(others ?? [])];
    },
    projectRank: () => getProjectRank(session, caller),
    emit: (kind: DomainEvent['kind'], subject: Subject, data: Record<string, unknown>) => {
      domainEvents.push({ kind, subject, data });
    },
    perform: async (operation, others) => {
      const handler = environment.handlers.get(operation.name);
      if (handler === undefined) throw new Error(`${operation.name} has no handler in this service`);
      // The performed operation must see the effect of earlier writes. Otherwise two stories in a row would
      // get the same position on the board.
      session.flush();
      // TypeScript cannot derive the result type from the operation's name, so the result of its handler is
      // cast.
      const context = createHandlerContext(operation, caller, parseParams(operation, others), transaction);
      return (await handler.run(context)) as ResultOf<typeof operation>;
    },
    waitForNewEvents,
    runInSavepoint: (work) => runInSavepoint(transaction, work),
    reportNoChange: changedNothing,
    refuse: refusal,
  };
}
