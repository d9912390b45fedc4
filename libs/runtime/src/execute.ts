/** The pipeline: what happens to every call, on every surface, in this order. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AuditFacts,
  type Entry,
  type Happening,
  inOrganization,
  type Pool,
  sqlQuery,
  trail,
  type Visit,
} from '@muster/database';
import {
  type Actor,
  type ApiError,
  forbidden,
  isUuid,
  type Operation,
  orgRank,
  Policy,
  projectRank,
  refusal,
  type ResultOf,
  scopeCovers,
  type Subject,
  targetKindOf,
} from '@muster/registry';
import { isSerializationLoss, toApiError } from './errors.ts';
import { type Caller, type Handler, type HandlerContext, type Surroundings } from './handle.ts';
import {
  claimKey,
  fingerprintOf,
  mayHaveAnswered,
  isTwinRunning,
  keepAnswer,
  findAnswer,
} from './idempotency.ts';
import { parseParams } from './parse.ts';
import { type AuthenticatedToken } from './tokens.ts';

/** What a transport knows of a call. */
export interface Call {
  readonly token: AuthenticatedToken;
  readonly params: unknown;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface Answer {
  /** The result as JSON text. */
  readonly json: string;
  /** The first answer to this Idempotency-Key, given again. */
  readonly replayed: boolean;
}

/**
 * Serialization losses are run this often before they become a 503, with a pause between: a loser that comes back at
 * once takes the row again before the winner has woken up, and they meet in the next deadlock.
 */
const mostAttempts = 3;

/** A handler that nothing surrounds. */
const alone: Surroundings = { handlers: new Map(), reactions: [], waitFor: async () => undefined };

/** The defaults, parsed once: nearly every organization has them. */
const defaultPolicy = Policy.parse({});

const policyOf = (stored: unknown): Policy =>
  typeof stored === 'object' && stored !== null && Object.keys(stored).length > 0
    ? Policy.parse(stored)
    : defaultPolicy;

const storedPolicy = (caller: Caller) =>
  sqlQuery<{ policy: unknown }>('select policy from orgs where id = $1', [caller.orgId]);

const exactRank = (caller: Caller) =>
  sqlQuery<{ rank: number }>(
    `select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank
     from projects p join members m on m.org_id = p.org_id
     where p.org_id = $1 and p.id = app.project_id() and m.id = $2`,
    [caller.orgId, caller.memberId],
  );

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
    actor,
  };
}

/** The record whose project decides, as the door takes it: by id, or by key where the contract allows one. */
function targetOf(operation: Operation, params: Record<string, unknown>): Visit['target'] {
  // Not a record: the door hands out the pass that opens all organizations.
  if (operation.access.kind === 'platform') return { kind: 'platform', ref: '', rank: 0 };
  if (operation.access.kind !== 'project' || operation.target === null) return null;
  const ref = params[operation.target];
  if (typeof ref !== 'string') return null;
  const kind = targetKindOf(operation.target, params);
  return { kind: isUuid(ref) ? kind : `${kind}Key`, ref, rank: projectRank(operation.access.role) };
}

/**
 * What a call is about, for the audit: the record that it names, else the first parameter that the contract states. Not
 * the one that was sent first: that can be any, a secret too.
 */
function subjectOf({ target, params: { shape } }: Operation, params: unknown): string | null {
  if (typeof params !== 'object' || params === null) return null;
  const [first] = Object.keys(shape);
  const subject: unknown = Object.entries(params).find(([param]) => param === (target ?? first))?.[1];
  return typeof subject === 'string' ? subject.slice(0, 200) : null;
}

/**
 * Executes an operation for a caller:
 *
 * 1. The token was authenticated by the transport (tokens.ts); its scope must cover the operation.
 * 2. Parameters are parsed against the contract: 400 with every field that does not fit.
 * 3. The door opens the organization's transaction; it checks token, membership and role once more, finds the
 *    project of the record named first, and the role there: 401, 403, 404.
 * 4. A write with an Idempotency-Key claims it, or the first answer is given again; also where what the first call
 *    did is why the door says no now (the record is deleted, the role handed on).
 * 5. The handler runs. Its first statements ride with steps 3 and 4, so it may start before they are answered;
 *    if they say no, that is the answer, and nothing of the handler stays.
 * 6. A write into an archived project is refused, unless the contract lets the handler decide.
 * 7. Reactions to what happened (notifications in the inbox) join the transaction.
 * 8. Events, outbox, the kept answer and the audit entry go out with COMMIT, in one burst.
 * 9. A sensitive operation that was forbidden leaves an audit entry of its own.
 *
 * Throws an ApiError, or what toApiError makes one of.
 */
export async function execute(
  pool: Pool,
  handler: Handler,
  call: Call,
  surroundings: Surroundings = alone,
): Promise<Answer> {
  const { operation } = handler;
  const caller = callerOf(call.token);
  try {
    const params = parseParams(operation, call.params);
    if (!scopeCovers(call.token.identity.scopes, operation.scope)) {
      throw forbidden('scope', `The token's scope is too small; this needs ${operation.scope}.`);
    }
    const first = await perform(pool, handler, caller, call, params, surroundings);
    const awaited = first.result === null ? null : (handler.waitsFor?.(params, first.result) ?? null);
    if (awaited !== null) await surroundings.waitFor(caller.orgId, awaited);
    const { json, replayed } =
      awaited === null ? first : await perform(pool, handler, caller, call, params, surroundings);
    return { json, replayed };
  } catch (error) {
    const known = toApiError(error);
    if (known.code === 'unauthorized') call.token.forget();
    if (known.code === 'forbidden' && operation.auditsRefusal)
      await auditRefusal(pool, operation, caller, call, known);
    throw known.code === 'internal' ? error : known;
  }
}

/** An answer, and the result that it says; null where it is a replay. */
interface Performed extends Answer {
  readonly result: Record<string, unknown> | null;
}

async function perform(
  pool: Pool,
  handler: Handler,
  caller: Caller,
  call: Call,
  params: Record<string, unknown>,
  surroundings: Surroundings,
): Promise<Performed> {
  const { operation } = handler;
  const key = operation.effect === 'write' ? call.idempotencyKey : null;
  const fingerprint = key === null ? null : fingerprintOf(operation, params);
  const visit: Visit = {
    effect: operation.effect,
    tokenHash: call.token.identity.tokenHash,
    orgRank: operation.access.kind === 'org' ? orgRank(operation.access.role) : 1,
    target: targetOf(operation, params),
    claim: key === null || fingerprint === null ? null : claimKey(caller, operation, key, fingerprint),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inOrganization(pool, visit, async (session) => {
        const happenings: Happening[] = [];
        const context = contextOf(caller, params, { session, happenings, surroundings });
        const result = await handler.run(context);
        const json = JSON.stringify(result);
        if (operation.effect === 'read') return { json, result, replayed: false };
        refuseArchived(operation, await session.entry());
        if (happenings.length > 0) {
          for (const react of surroundings.reactions) await react({ db: session, caller, happenings });
        }
        if (key !== null)
          session.later(keepAnswer(caller, operation, key, withoutSecret(operation, result, json)));
        session.later(
          trail(caller.orgId, caller.actor, auditFacts(operation, call), { allowed: true, happenings }),
        );
        return { json, result, replayed: false };
      });
    } catch (error) {
      if (isSerializationLoss(error) && attempt < mostAttempts) {
        await pause(attempt * (10 + Math.random() * 20));
        continue;
      }
      if (key === null || fingerprint === null) throw error;
      if (isTwinRunning(error)) throw refusal('idempotency_in_flight');
      if (!mayHaveAnswered(error)) throw error;
      const json = await inOrganization(
        pool,
        { ...visit, effect: 'read', orgRank: 1, target: null, claim: null },
        (session) => findAnswer(session, caller, operation, key, fingerprint),
      );
      if (json === undefined) throw error;
      if (handler.reissue === undefined) return { json, result: null, replayed: true };
      const { reissue } = handler;
      const fresh = await inOrganization(pool, { ...visit, claim: null }, async (session) =>
        JSON.stringify(
          await reissue(
            contextOf(caller, params, { session, happenings: [], surroundings }),
            JSON.parse(json) as Record<string, unknown>,
          ),
        ),
      );
      return { json: fresh, result: null, replayed: true };
    }
  }
}

/** What may be kept of an answer: all but its secret, in whose place an empty text stands. */
const withoutSecret = ({ secret }: Operation, result: Record<string, unknown>, json: string): string =>
  secret === null ? json : JSON.stringify({ ...result, [secret]: '' });

/** One transaction of the pipeline, for the handlers that run in it. */
interface Transaction {
  readonly session: Parameters<Parameters<typeof inOrganization>[2]>[0];
  readonly happenings: Happening[];
  readonly surroundings: Surroundings;
}

function contextOf(
  caller: Caller,
  params: Record<string, unknown>,
  transaction: Transaction,
): HandlerContext<Operation> {
  const { session, happenings, surroundings } = transaction;
  return {
    params,
    caller,
    db: session,
    access: async () => {
      const { at, orgRole, projectId } = await session.entry();
      return { at, orgRole, projectId };
    },
    policy: async () => policyOf((await session.one(storedPolicy(caller))).policy),
    projectRank: async () => (await session.one(exactRank(caller))).rank,
    emit: (kind: Happening['kind'], subject: Subject, data: Record<string, unknown>) => {
      happenings.push({ kind, subject, data });
    },
    perform: async (operation, others) => {
      const handler = surroundings.handlers.get(operation.name);
      if (handler === undefined) throw new Error(`nobody here handles ${operation.name}`);
      // It goes by what was done so far: two stories in a row would find one and the same place on the board.
      session.hasten();
      // The handler by this name gives this operation's result.
      return (await handler.run(contextOf(caller, parseParams(operation, others), transaction))) as ResultOf<
        typeof operation
      >;
    },
    refuse: refusal,
  };
}

function refuseArchived(operation: Operation, entry: Entry): void {
  if (entry.archived === true && !operation.reachesArchived) throw refusal('archived');
}

const auditFacts = (operation: Operation, call: Call): AuditFacts => ({
  operation: operation.name,
  target: subjectOf(operation, call.params),
  tokenId: call.token.identity.tokenId,
  ip: call.ip,
  userAgent: call.userAgent,
  requestId: call.requestId,
});

async function auditRefusal(
  pool: Pool,
  operation: Operation,
  caller: Caller,
  call: Call,
  refused: ApiError,
): Promise<void> {
  const visit: Visit = {
    effect: 'write',
    tokenHash: call.token.identity.tokenHash,
    orgRank: 1,
    target: null,
    claim: null,
  };
  const reason = typeof refused.details?.reason === 'string' ? refused.details.reason : refused.code;
  await inOrganization(pool, visit, async (session) => {
    session.later(trail(caller.orgId, caller.actor, auditFacts(operation, call), { allowed: false, reason }));
  });
}
