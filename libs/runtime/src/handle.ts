/**
 * Binds handlers to their contract, so that the compiler checks their parameters, results, refusals and
 * events.
 */
import { type Db, type Part, type Query } from '@muster/driver';
import {
  type Actor,
  type ApiError,
  type EmittedOf,
  type EventData,
  type GroundOf,
  type InputOf,
  isOperation,
  type Operation,
  type OrgRole,
  type ParamsOf,
  type Policy,
  type RefusalOf,
  type ResultOf,
  type Scope,
  type Subject,
} from '@muster/contract';
import { type DomainEvent, type StreamPosition, type Standby } from '@muster/tenancy';

/**
 * The caller of an operation. The role is not included: it may have changed since, and `access()` reads it in
 * this transaction.
 */
export interface Caller {
  readonly orgId: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly tokenId: string;
  /** The hash of the token; null for a job, which has no token. */
  readonly tokenHash: Buffer | null;
  readonly scopes: readonly Scope[];
  /** The projects that the token is bound to. Null means every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  readonly actor: Actor;
}

/** The result of the authorization check in this transaction. */
export interface CallAccess {
  /** The time of the transaction, by the database's clock. */
  readonly at: string;
  /** The role in the organization, limited by the token's scope. */
  readonly actingRole: OrgRole;
  /**
   * The id of the record that the first parameter names by id or key; null for operations of the
   * organization.
   */
  readonly targetId: string | null;
  /** The project of the record that the first parameter names; null for operations of the organization. */
  readonly projectId: string | null;
}

export interface HandlerContext<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly caller: Caller;
  readonly db: Db;
  /**
   * SQL for the id of the record that the first parameter names by id or key. The authorization check sets it
   * before the handler's statements run. It is null for operations of the organization.
   */
  readonly targetId: Part;
  /**
   * Returns the result of the authorization check. It costs no round trip, since it is pipelined with the
   * first statements.
   */
  readonly access: () => Promise<CallAccess>;
  /**
   * Throws 403 unless the caller meets one of the grounds that the contract names, such as being the author.
   * Pass the grounds that the caller meets; the role of an admin is checked here. Every handler of an
   * operation with grounds must call this function before it changes anything.
   */
  readonly requireGround: (...held: (GroundOf<O> | false)[]) => Promise<void>;
  /**
   * Reads the organization's policy. It sends a separate statement, so start it at the same time as other
   * statements to share their round trip.
   */
  readonly policy: () => Promise<Policy>;
  /**
   * Returns the caller's exact rank in the project: 3 lead, 2 contributor, 1 viewer. Throws 404 if the caller
   * no longer has a rank. It sends a separate statement.
   */
  readonly projectRank: () => Promise<number>;
  /** Records an event, which is written with the transaction. */
  readonly emit: <Kind extends EmittedOf<O>>(kind: Kind, subject: Subject, data: EventData<Kind>) => void;
  /**
   * Runs the handler of another operation in this transaction, for this caller. A refusal by that handler
   * refuses this call. No access is checked; the calling handler is responsible for that. The parameters must
   * name the operation's record by id, or exactly as this call names the same record.
   */
  readonly perform: <Other extends Operation>(
    operation: Other,
    params: InputOf<Other>,
  ) => Promise<ResultOf<Other>>;
  /**
   * Used by a call that has found nothing: names the position after which it waits for events. The transport waits
   * and executes the operation again. Everything that a write has done is rolled back, so that it keeps no lock and
   * no Idempotency-Key while it waits. The last attempt does not wait, and is committed.
   */
  readonly waitForNewEvents: (awaited: WaitCondition) => void;
  /**
   * Runs `work` and undoes it if it returns undefined: its statements with their locks, its deferred
   * statements, and its events.
   */
  readonly runInSavepoint: <Result>(work: () => Promise<Result | undefined>) => Promise<Result | undefined>;
  /** Returns true if no organization on another server has the slug. */
  readonly claimSlug: (slug: { readonly wanted: string; readonly has: string }) => Promise<boolean>;
  /**
   * Returns the rows of a query on every database server: on the caller's server within this transaction, and
   * on each other server separately. Only operators of the installation may use it.
   */
  readonly queryAllServers: <Row>(query: Query<Row>) => Promise<Row[][]>;
  /**
   * States that the call changed nothing, so that it leaves no audit entry. It is a fault if an event was
   * emitted.
   */
  readonly reportNoChange: () => void;
  /** Builds a refusal that the contract declares; the handler throws it. */
  readonly refuse: (reason: RefusalOf<O>, details?: Record<string, unknown>) => ApiError;
}

/** The condition that a call may wait for: a stream passes a position. */
export interface WaitCondition {
  readonly position: StreamPosition;
  readonly timeoutSeconds: number;
}

/** The optional parts of a handler. */
export interface HandlerOptions<O extends Operation> {
  /**
   * Builds the response to a repeated Idempotency-Key if the contract excludes a secret from the stored
   * response. Returns the stored response with a valid secret.
   */
  readonly reissueSecret?: (context: HandlerContext<O>, storedResponse: ResultOf<O>) => Promise<ResultOf<O>>;
  /**
   * The number of calls naming the same first record that a process runs at the same time. Set it for calls
   * that would block one another in Postgres. The transport queues the rest without a connection.
   */
  readonly maxConcurrentCalls?: number;
  /** Makes the operation a batch (batch.ts). The handler itself does not run. */
  readonly batch?: Batch;
}

/** An operation on several records. It runs as one call per record, each in a transaction of its own. */
export interface Batch {
  /** Handles one record. Its operation has the name of the whole operation, which the audit shows. */
  readonly item: Handler;
  /** Returns the parameters of the call for each record. */
  readonly split: (params: Record<string, unknown>) => readonly object[];
  /** Builds the response from the outcomes of the calls, in the same order. */
  readonly join: (
    params: Record<string, unknown>,
    outcomes: readonly BatchOutcome[],
  ) => Record<string, unknown>;
}

/** The outcome of the call for one record: the result of its handler, or the error that refused it. */
export type BatchOutcome<Result = Record<string, unknown>> =
  | { readonly result: Result }
  | { readonly refusal: ApiError };

export interface Handler<O extends Operation = Operation> extends HandlerOptions<O> {
  readonly operation: O;
  readonly run: (context: HandlerContext<O>) => Promise<ResultOf<O>>;
}

/** The environment of handlers. They reach one another by contract, never by import. */
export interface HandlerEnvironment {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly reactions: readonly EventReaction[];
  /** The maximum page size in bytes; the contract's limit by default. Specs set smaller ones. */
  readonly maxPageBytes?: number | undefined;
  /**
   * Returns true if no other organization has the slug. With several servers, the organization's own server
   * cannot know this.
   */
  readonly claimSlug?:
    | ((orgId: string, slug: { readonly wanted: string; readonly has: string }) => Promise<boolean>)
    | undefined;
  /** Queries the other database servers on behalf of an operator who was authorized on this server. */
  readonly queryOtherServers?:
    | (<Row>(
        caller: { readonly orgId: string; readonly tokenHash: Buffer },
        query: Query<Row>,
      ) => Promise<Row[][]>)
    | undefined;
  /** The standby for reads whose callers allow it. */
  readonly standby?: Standby | undefined;
}

/**
 * A reaction of another domain to events, in the same transaction and before its trail. It receives only the
 * events, so that domains need not know one another. It returns resulting events, which later reactions and
 * the trail receive as well.
 */
export type EventReaction = (context: {
  readonly db: Db;
  readonly orgId: string;
  /** The caller or the worker that caused the events. */
  readonly actor: Actor;
  readonly domainEvents: readonly DomainEvent[];
}) => Promise<readonly DomainEvent[] | undefined>;

/** Binds a handler to its operation. */
export const handle = <O extends Operation>(
  operation: O,
  run: (context: HandlerContext<O>) => Promise<ResultOf<O>>,
  options: HandlerOptions<O> = {},
): Handler<O> => ({ operation, run, ...options });

/** Binds a batch to its operation. */
export const handleBatch = <O extends Operation, Item extends Operation>(
  operation: O,
  batch: {
    readonly item: Handler<Item>;
    readonly split: (params: ParamsOf<O>) => readonly InputOf<Item>[];
    readonly join: (params: ParamsOf<O>, outcomes: readonly BatchOutcome<ResultOf<Item>>[]) => ResultOf<O>;
  },
): Handler<O> => ({
  operation,
  run: () => Promise.reject(new Error(`${operation.name} cannot run in one transaction`)),
  // The pipeline knows operations only by name, so it cannot derive the types of this one.
  batch: batch as unknown as Batch,
});

/** The handlers for each operation of a tree of operations. A missing handler is a compile error. */
export type HandlersOf<Node> = Node extends Operation
  ? Handler<Node>
  : { readonly [Word in keyof Node]: HandlersOf<Node[Word]> };

function* flattenHandlers(handlers: object): Generator<Handler> {
  for (const node of Object.values(handlers) as unknown[]) {
    if (typeof node !== 'object' || node === null) continue;
    if ('operation' in node && isOperation(node.operation)) yield node as Handler;
    else yield* flattenHandlers(node);
  }
}

/** Maps nested handlers by the name of their operation. */
export const handlersByOperation = (handlers: object): ReadonlyMap<string, Handler> =>
  new Map([...flattenHandlers(handlers)].map((handler) => [handler.operation.name, handler]));
