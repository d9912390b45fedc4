/** The world of a spec: organizations with people, who call operations as their tokens allow. */
import { type ClientOf } from '@muster/client-core';
import { type Pool } from '@muster/driver';
import { type Operation, type OrgRole, type Plan, type Policy, type Scope } from '@muster/contract';
import { type Handler, type OperationResponse } from '@muster/runtime';
import { type TestDatabase } from './database.ts';

/** The operations of handlers, in the tree of the handlers. */
export type OperationsOf<Handlers> = Handlers extends { readonly operation: infer O extends Operation }
  ? O
  : { readonly [Word in keyof Handlers]: OperationsOf<Handlers[Word]> };
/** The typed client of the operations under test. */
export type TestClient<Handlers> = ClientOf<OperationsOf<Handlers>>;

/** A member or an agent with a token: the typed client of the operations under test, and their identity. */
export type Person<Handlers = object> = TestClient<Handlers> & {
  readonly me: {
    readonly memberId: string;
    readonly agentId: string | null;
    readonly handle: string;
    readonly name: string;
    readonly token: string;
  };
};

/**
 * An organization with its people: the owner Ana, the admin Ben, the member Chloé, the viewer Dan, and
 * Chloé's agent Robo.
 */
export interface People<Handlers = object> {
  readonly orgId: string;
  readonly slug: string;
  readonly ana: Person<Handlers>;
  readonly ben: Person<Handlers>;
  readonly chloe: Person<Handlers>;
  readonly dan: Person<Handlers>;
  readonly robo: Person<Handlers>;
}

export interface OrgSetUp {
  readonly policy?: Partial<Policy>;
  readonly plan?: Plan;
}

export interface World<Handlers = object> {
  readonly database: TestDatabase;
  /** Creates a new organization. Specs do not share organizations. */
  org(setUp?: OrgSetUp): Promise<People<Handlers>>;
  /** Creates another member of an organization. */
  member(orgId: string, name: string, role: OrgRole): Promise<Person<Handlers>>;
  /** Creates another token for a member. */
  token(orgId: string, memberId: string, setUp?: TokenSetUp): Promise<Person<Handlers>>;
  /** Returns the typed client of a token's bearer. */
  client(secret: string): TestClient<Handlers>;
  /** Calls any handler, even one that is not under test. Returns and throws like the pipeline. */
  call(person: Person, handler: Handler, params: unknown, options?: CallSetUp): Promise<OperationResponse>;
  /**
   * Collects the INSERT statements of all maker functions that the callback calls, and sends them together when
   * it returns. Until then the records do not exist, and `rows` of the makers returns an empty array.
   */
  readonly batchStatements: <Result>(
    createRecords: (makers: Makers<Handlers>) => Promise<Result>,
  ) => Promise<Result>;
  /** Queries rows as the owner of the tables. */
  readonly rows: <Row>(sql: string, ...parameters: unknown[]) => Promise<Row[]>;
  /**
   * Holds row locks until each of the calls waits for a lock, then releases them, so that the calls run
   * concurrently. Returns their outcomes in order.
   */
  runUnderContention<Result>(
    lock: RowLock,
    ...calls: (() => Promise<Result>)[]
  ): Promise<PromiseSettledResult<Result>[]>;
  /**
   * Waits until this number of database sessions wait for a lock. Use it in specs that hold that lock in a
   * transaction of their own.
   */
  waitUntilBlocked(count: number): Promise<void>;
}

/** The rows of `table` in which `column` has one of the ids. The default column is `id`. */
export interface RowLock {
  readonly table: string;
  readonly id: string | readonly string[];
  readonly column?: string;
}

/** The functions that create rows and people. */
export type Makers<Handlers = object> = Pick<World<Handlers>, 'org' | 'member' | 'token' | 'rows'>;

/** The people of a world, for the type of a variable. */
export type PeopleOf<W> = W extends World<infer Handlers> ? People<Handlers> : never;
export type PersonOf<W> = W extends World<infer Handlers> ? Person<Handlers> : never;

export interface TokenSetUp {
  readonly scopes?: readonly Scope[];
  readonly agent?: string;
  readonly projectIds?: readonly string[];
  /** True if the agent may read its member's notifications. */
  readonly mayReadInbox?: boolean;
}

export interface CallSetUp {
  readonly idempotencyKey?: string;
  /** Replaces the pool of the world. */
  readonly pool?: Pool;
  /** The byte limit of a page instead of 1 MiB. */
  readonly maxPageBytes?: number;
}
