/** The world of a spec: organizations with people in them, who call operations as their tokens allow. */
import { type Client, createClient } from '@muster/client';
import { type Pool, sendBurst, type Statement } from '@muster/driver';
import { type OrgRole, type Plan, type Policy, type Scope } from '@muster/registry';
import { type Answer, type Handler, type Reaction } from '@muster/runtime';
import { openCalls } from './calls.ts';
import { allWait, contend, type RowLock } from './contention.ts';
import { type TestDatabase } from './database.ts';
import { createMakers } from './makers.ts';

/** A member or an agent with a token: the typed client, and who they are. */
export type Person = Client & {
  readonly me: {
    readonly memberId: string;
    readonly agentId: string | null;
    readonly handle: string;
    readonly name: string;
    readonly token: string;
  };
};

/** An organization with its people: Ana owns it, Ben is admin, Chloé a member, Dan a viewer, Robo Chloé's agent. */
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
  /** A fresh organization; specs share none. */
  org(setUp?: OrgSetUp): Promise<People>;
  /** One more member of an organization. */
  member(orgId: string, name: string, role: OrgRole): Promise<Person>;
  /** One more token of a member. */
  token(orgId: string, memberId: string, setUp?: TokenSetUp): Promise<Person>;
  /** The typed client of the bearer of a token. */
  client(secret: string): Client;
  /** A call of any handler, also of one that the registry does not know; answers and throws as the pipeline does. */
  call(person: Person, handler: Handler, params: unknown, options?: CallSetUp): Promise<Answer>;
  /** Sends all that is made within it at once; nothing is there before, and `rows` answers nothing. */
  readonly gathered: <Result>(make: (makers: Makers) => Promise<Result>) => Promise<Result>;
  /** Rows as the owner of the tables sees them. */
  readonly rows: <Row>(sql: string, ...parameters: unknown[]) => Promise<Row[]>;
  /**
   * Holds row locks until each of the calls waits for a lock, then lets go: so they do race. Answers their outcomes in
   * order.
   */
  contend<Result>(
    lock: RowLock,
    ...calls: (() => Promise<Result>)[]
  ): Promise<PromiseSettledResult<Result>[]>;
  /** Until so many sessions wait for a lock, for specs that hold one themselves. */
  waiting(count: number): Promise<void>;
}

/** What makes rows and people. */
export type Makers = Pick<World, 'org' | 'member' | 'token' | 'rows'>;

export interface TokenSetUp {
  readonly scopes?: readonly Scope[];
  readonly agent?: string;
  readonly projectIds?: readonly string[];
  /** Of an agent: it may read its member's notifications. */
  readonly inbox?: boolean;
}

export interface CallSetUp {
  readonly idempotencyKey?: string;
  /** Another pool than the world's. */
  readonly pool?: Pool;
  /** Where pages are cut, in place of 1 MiB. */
  readonly mostPageBytes?: number;
}

/** A world until it is closed, with its database. */
export interface OpenWorld extends World {
  close(): Promise<void>;
}

/** A world on that database, in which these handlers answer, and these reactions follow. */
export function openWorld(
  database: TestDatabase,
  handlers: object,
  reactions: readonly Reaction[] = [],
): OpenWorld {
  const rows = async <Row>(sql: string, ...parameters: unknown[]): Promise<Row[]> =>
    (await database.owner.query(sql, parameters)).rows as Row[];
  const calls = openCalls(database, handlers, reactions);
  const makersBy = createMakers(rows, calls.transportOf);

  const gathered = async <Result>(make: (makers: Makers) => Promise<Result>): Promise<Result> => {
    const statements: Statement[] = [];
    const result = await make(
      makersBy(async (sql, ...parameters) => {
        statements.push({ sql, parameters });
        return [];
      }),
    );
    const client = await database.owner.connect();
    try {
      await sendBurst(client, statements);
    } finally {
      client.release();
    }
    return result;
  };

  return {
    database,
    close: async () => {
      await calls.close();
      await database.close();
    },
    client: (secret) => createClient(calls.transportOf(secret)),
    call: (person, handler, params, options = {}) => calls.run(person.me.token, handler, params, options),
    ...makersBy(rows),
    org: (setUp) => gathered(({ org }) => org(setUp)),
    gathered,
    waiting: (count) => allWait(count, rows),
    contend: (lock, ...racing) => contend(database, rows, lock, racing),
  };
}
