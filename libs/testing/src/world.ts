/** The world of a spec: organizations with people, who call operations as their tokens allow. */
import { type Client } from '@muster/client';
import { type Pool } from '@muster/driver';
import { type OrgRole, type Plan, type Policy, type Scope } from '@muster/contract';
import { type Handler, type OperationResponse } from '@muster/runtime';
import { type TestDatabase } from './database.ts';

/** A member or an agent with a token: the typed client, and their identity. */
export type Person = Client & {
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
export interface People {
  readonly orgId: string;
  readonly slug: string;
  readonly ana: Person;
  readonly ben: Person;
  readonly chloe: Person;
  readonly dan: Person;
  readonly robo: Person;
}

export interface OrgSetUp {
  readonly policy?: Partial<Policy>;
  readonly plan?: Plan;
}

export interface World {
  readonly database: TestDatabase;
  /** Creates a new organization. Specs do not share organizations. */
  org(setUp?: OrgSetUp): Promise<People>;
  /** Creates another member of an organization. */
  member(orgId: string, name: string, role: OrgRole): Promise<Person>;
  /** Creates another token for a member. */
  token(orgId: string, memberId: string, setUp?: TokenSetUp): Promise<Person>;
  /** Returns the typed client of a token's bearer. */
  client(secret: string): Client;
  /** Calls any handler, even one that is not in the registry. Returns and throws like the pipeline. */
  call(person: Person, handler: Handler, params: unknown, options?: CallSetUp): Promise<OperationResponse>;
  /**
   * Collects the INSERT statements of all maker functions that the callback calls, and sends them together when
   * it returns. Until then the records do not exist, and `rows` of the makers returns an empty array.
   */
  readonly batchStatements: <Result>(createRecords: (makers: Makers) => Promise<Result>) => Promise<Result>;
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
export type Makers = Pick<World, 'org' | 'member' | 'token' | 'rows'>;

export interface TokenSetUp {
  readonly scopes?: readonly Scope[];
  readonly agent?: string;
  readonly projectIds?: readonly string[];
  /** True if the agent may read its member's notifications. */
  readonly inbox?: boolean;
}

export interface CallSetUp {
  readonly idempotencyKey?: string;
  /** Replaces the pool of the world. */
  readonly pool?: Pool;
  /** The byte limit of a page instead of 1 MiB. */
  readonly mostPageBytes?: number;
}
