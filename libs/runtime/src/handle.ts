/** How a handler is written: bound to its contract, so that what it gets, gives, refuses and says is checked by type. */
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
  type Registry,
  type ResultOf,
  type Scope,
  type Subject,
} from '@muster/registry';
import { type DomainEvent, type Position, type Standby } from '@muster/tenancy';

/** Who calls. The role is not here: it may have changed since, and `access()` answers it from this transaction. */
export interface Caller {
  readonly orgId: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly tokenId: string;
  /** Null of a job, which has none. */
  readonly tokenHash: Buffer | null;
  readonly scopes: readonly Scope[];
  /** The projects that the token is bound to; null: every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  readonly actor: Actor;
}

/** What the door found in this transaction. */
export interface CallAccess {
  /** The transaction's time, by the database's clock. */
  readonly at: string;
  /** The role in the organization as far as the token's scope reaches. */
  readonly actingRole: OrgRole;
  /** The id of the record that the first parameter names by id or key; null for operations of the organization. */
  readonly targetId: string | null;
  /** The project of the record that the first parameter names; null for operations of the organization. */
  readonly projectId: string | null;
}

export interface HandlerContext<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly caller: Caller;
  readonly db: Db;
  /**
   * The id of the record that the first parameter names by id or key, as statements say it: the way in has found it
   * before they run. None for operations of the organization.
   */
  readonly targetId: Part;
  /** Costs nothing: it rides with the first statements. */
  readonly access: () => Promise<CallAccess>;
  /**
   * 403 unless one of the grounds that the contract names holds: those said here, and for admins their role. Every
   * handler of an operation with grounds asks, before it changes anything.
   */
  readonly requireGround: (...held: (GroundOf<O> | false)[]) => Promise<void>;
  /** The organization's policy; a statement of its own, so ask for it together with others. */
  readonly policy: () => Promise<Policy>;
  /** The caller's exact rank in the project: 3 lead, 2 contributor, 1 viewer; 404 where they have none any more. A statement of its own. */
  readonly projectRank: () => Promise<number>;
  /** Says what happened; written with the transaction. */
  readonly emit: <Kind extends EmittedOf<O>>(kind: Kind, subject: Subject, data: EventData<Kind>) => void;
  /**
   * Another operation's handler, in this transaction and for this caller; what it refuses is refused. It checks no
   * access: its caller has the access that it needs. Its record is named by id, or as this call names the same one.
   */
  readonly perform: <Other extends Operation>(
    operation: Other,
    params: InputOf<Other>,
  ) => Promise<ResultOf<Other>>;
  /**
   * Of a read whose result is not there yet: what its caller asked to wait for. The transport waits, and executes the
   * operation once more.
   */
  readonly waitFor: (awaited: Awaited) => void;
  /**
   * Does `work`, and undoes it where it answers undefined: its statements with their locks, what it left for later, and its
   * events.
   */
  readonly attempt: <Result>(work: () => Promise<Result | undefined>) => Promise<Result | undefined>;
  /** Whether the caller's organization may have a slug, as far as its own server cannot say. */
  readonly claimSlug: (slug: { readonly wanted: string; readonly has: string }) => Promise<boolean>;
  /**
   * For operators of the installation: the rows of a query at the caller's server, in this transaction, and those of each other
   * server.
   */
  readonly everywhere: <Row>(query: Query<Row>) => Promise<Row[][]>;
  /** Says that the call changed nothing, so that it leaves no audit entry. A fault where an event was said. */
  readonly changedNothing: () => void;
  /** A refusal that the contract declares, to be thrown. */
  readonly refuse: (reason: RefusalOf<O>, details?: Record<string, unknown>) => ApiError;
}

/** What a read may wait for before it answers: that a stream goes beyond a position. */
export interface Awaited {
  readonly position: Position;
  readonly seconds: number;
}

/** What only some handlers have. */
export interface HandlerParts<O extends Operation> {
  /**
   * The answer to a repeated Idempotency-Key, where the contract keeps a secret out of what is stored: the kept answer
   * with a secret that is good now.
   */
  readonly reissue?: (context: HandlerContext<O>, kept: ResultOf<O>) => Promise<ResultOf<O>>;
  /**
   * Of calls that wait for one another in Postgres where they name the same record first: how many of those a process runs
   * at once. The transport lets the others wait, without a connection.
   */
  readonly atOnce?: number;
}

export interface Handler<O extends Operation = Operation> extends HandlerParts<O> {
  readonly operation: O;
  readonly run: (context: HandlerContext<O>) => Promise<ResultOf<O>>;
}

/** What handlers run in: each is told of the others by their contract, never by import. */
export interface Environment {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly reactions: readonly Reaction[];
  /** Where pages are cut; where the contract says, unless a spec wants them shorter. */
  readonly mostPageBytes?: number | undefined;
  /** Whether an organization may have a slug that it wants; where there are several servers, its own cannot say. */
  readonly claimSlug?:
    | ((orgId: string, slug: { readonly wanted: string; readonly has: string }) => Promise<boolean>)
    | undefined;
  /** What the other servers answer to an operator who is let in here. */
  readonly askOtherServers?:
    | (<Row>(
        who: { readonly orgId: string; readonly tokenHash: Buffer },
        query: Query<Row>,
      ) => Promise<Row[][]>)
    | undefined;
  /** Answers reads whose callers let it. */
  readonly standby?: Standby | undefined;
}

/**
 * What another domain does about what happened, in the same transaction and before its trail. It goes by the events
 * alone, so that domains need not know one another. Events that follow from them are answered: later reactions and the
 * trail get them as well.
 */
export type Reaction = (what: {
  readonly db: Db;
  readonly orgId: string;
  /** Who did it: a caller, or the worker. */
  readonly actor: Actor;
  readonly domainEvents: readonly DomainEvent[];
}) => Promise<readonly DomainEvent[] | undefined>;

/** Binds a handler to its operation. */
export const handle = <O extends Operation>(
  operation: O,
  run: (context: HandlerContext<O>) => Promise<ResultOf<O>>,
  parts: HandlerParts<O> = {},
): Handler<O> => ({ operation, run, ...parts });

/** A handler for each operation of a part of the registry: one that is missing does not compile. */
export type HandlersOf<Node> = Node extends Operation
  ? Handler<Node>
  : { readonly [Word in keyof Node]: HandlersOf<Node[Word]> };

export type AllHandlers = HandlersOf<Registry>;

function* flatten(handlers: object): Generator<Handler> {
  for (const node of Object.values(handlers) as unknown[]) {
    if (typeof node !== 'object' || node === null) continue;
    if ('operation' in node && isOperation(node.operation)) yield node as Handler;
    else yield* flatten(node);
  }
}

/** Handlers, nested as the registry is, by the name of their operation. */
export const byOperation = (handlers: object): ReadonlyMap<string, Handler> =>
  new Map([...flatten(handlers)].map((handler) => [handler.operation.name, handler]));
