/** The world of a spec: organizations with people in them, who call operations as their tokens allow. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, errorOf, type Transport } from '@muster/client';
import { createFollowers, newId, type Pool, sendBurst, type Statement } from '@muster/database';
import { type OrgRole, type Plan, type Policy, type Scope } from '@muster/registry';
import {
  type Answer,
  byOperation,
  createAuthenticator,
  execute,
  type Handler,
  hashToken,
  newTokenSecret,
  type Reaction,
  toApiError,
} from '@muster/runtime';
import { type TestDatabase } from './database.ts';

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
  /** A call of any handler, also of one that the registry does not know; answers and throws as the pipeline does. */
  call(person: Person, handler: Handler, params: unknown, options?: CallSetUp): Promise<Answer>;
  /** Sends all that is made within it at once; nothing is there before, and `rows` answers nothing. */
  readonly gathered: <Result>(make: (makers: Makers) => Promise<Result>) => Promise<Result>;
  /** Rows as the owner of the tables sees them. */
  readonly rows: <Row>(sql: string, ...parameters: unknown[]) => Promise<Row[]>;
  /**
   * Holds row locks (of `table`, where `column` is `id` or one of them) until each of the calls waits for a lock, then
   * lets go: so they do race. Answers their outcomes in order.
   */
  contend<Result>(
    lock: { readonly table: string; readonly id: string | readonly string[]; readonly column?: string },
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
  const byName = byOperation(handlers);
  const authenticator = createAuthenticator(database.app);
  const followers = createFollowers(database.app, () => undefined);

  const rows = async <Row>(sql: string, ...parameters: unknown[]): Promise<Row[]> =>
    (await database.owner.query(sql, parameters)).rows as Row[];

  const run = async (
    secret: string,
    handler: Handler,
    params: unknown,
    { idempotencyKey, pool, mostPageBytes }: CallSetUp,
    requestId = newId(),
  ): Promise<Answer> => {
    const call = {
      token: await authenticator.authenticate(secret),
      // What crosses the wire is JSON.
      params: JSON.parse(JSON.stringify(params)) as unknown,
      requestId,
      idempotencyKey: idempotencyKey ?? null,
      ip: '127.0.0.1',
      userAgent: 'spec',
    };
    const surroundings = { handlers: byName, reactions, mostPageBytes };
    const ask = (): Promise<Answer> => execute(pool ?? database.app, handler, call, surroundings);
    const first = await ask();
    if (first.awaits === null) return first;
    const { position, seconds } = first.awaits;
    await followers.wait(call.token.identity, position, seconds);
    return ask();
  };

  const transportOf =
    (secret: string): Transport =>
    async (operation, params, { idempotencyKey }) => {
      const requestId = newId();
      const handler = byName.get(operation.name);
      if (handler === undefined) throw new Error(`this world has no handler for ${operation.name}`);
      try {
        const setUp = idempotencyKey === undefined ? {} : { idempotencyKey };
        return JSON.parse((await run(secret, handler, params, setUp, requestId)).json) as unknown;
      } catch (error) {
        const known = toApiError(error);
        if (known.code === 'internal') throw error;
        throw errorOf(known.toBody(requestId));
      }
    };

  /** Members that were made here, so that no spec has to ask for them. */
  const names = new Map<string, { readonly handle: string; readonly name: string }>();
  const namesOf = async (orgId: string, memberId: string) => {
    const [member] = await rows<{ handle: string; name: string }>(
      'select handle, name from members where org_id = $1 and id = $2',
      orgId,
      memberId,
    );
    if (member === undefined) throw new Error('no such member');
    return member;
  };

  /** What makes people, by whatever way statements go out. */
  const makers = (rows: World['rows']): Makers => {
    const token = async (orgId: string, memberId: string, setUp: TokenSetUp = {}): Promise<Person> => {
      const secret = newTokenSecret('test');
      const { handle, name } = names.get(memberId) ?? (await namesOf(orgId, memberId));
      let agentId: string | null = null;
      if (setUp.agent !== undefined) {
        agentId = newId();
        await rows(
          'insert into agents (org_id, id, member_id, name) values ($1, $2, $3, $4)',
          orgId,
          agentId,
          memberId,
          setUp.agent,
        );
      }
      await rows(
        `insert into tokens (org_id, id, member_id, agent_id, name, hash, last_four, scopes, project_ids,
         may_read_inbox, expires_at)
       values ($1, $2, $3, $4, 'spec', $5, $6, $7, $8, $9, now() + interval '1 day')`,
        orgId,
        newId(),
        memberId,
        agentId,
        hashToken(secret),
        secret.slice(-4),
        setUp.scopes ?? ['admin'],
        setUp.projectIds ?? null,
        setUp.inbox ?? false,
      );
      return Object.assign(createClient(transportOf(secret)), {
        me: { memberId, agentId, handle, name: setUp.agent ?? name, token: secret },
      });
    };

    const member = async (orgId: string, name: string, role: OrgRole): Promise<Person> => {
      const id = newId();
      const handle = name
        .normalize('NFD')
        .replaceAll(/[^A-Za-z0-9]/g, '')
        .toLowerCase();
      names.set(id, { handle, name });
      await rows(
        'insert into members (org_id, id, email, name, handle, role) values ($1, $2, $3, $4, $5, $6)',
        orgId,
        id,
        `${handle}@example.com`,
        name,
        handle,
        role,
      );
      return token(orgId, id);
    };

    const org: World['org'] = async ({ policy = {}, plan = 'team' } = {}) => {
      const orgId = newId();
      const slug = `org-${orgId.slice(-12)}`;
      await rows(
        'insert into orgs (id, slug, name, policy) values ($1, $2, $3, $4)',
        orgId,
        slug,
        'Acme',
        policy,
      );
      await rows('insert into streams (org_id) values ($1)', orgId);
      await rows('insert into subscriptions (org_id, plan, seats) values ($1, $2, 25)', orgId, plan);
      const ana = await member(orgId, 'Ana', 'owner');
      const ben = await member(orgId, 'Ben', 'admin');
      const chloe = await member(orgId, 'Chloé', 'member');
      const dan = await member(orgId, 'Dan', 'viewer');
      const robo = await token(orgId, chloe.me.memberId, { agent: 'Robo' });
      return { orgId, slug, ana, ben, chloe, dan, robo };
    };
    return { token, member, org, rows };
  };
  const gathered = async <Result>(make: (makers: Makers) => Promise<Result>): Promise<Result> => {
    const statements: Statement[] = [];
    const result = await make(
      makers(async (sql, ...parameters) => {
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
      followers.close();
      await authenticator.close();
      await database.close();
    },
    call: (person, handler, params, options = {}) => run(person.me.token, handler, params, options),
    ...makers(rows),
    org: (setUp) => gathered(({ org }) => org(setUp)),
    gathered,
    waiting: (count) => allWait(count, rows),
    contend: async (lock, ...calls) => {
      const holder = await database.owner.connect();
      try {
        await holder.query('begin');
        await holder.query(
          `select 1 from ${lock.table} where ${lock.column ?? 'id'} = any ($1::uuid[]) for update`,
          [[lock.id].flat()],
        );
        const running = calls.map((call) => call());
        const settled = Promise.allSettled(running);
        await allWait(calls.length, rows);
        await holder.query('rollback');
        return await settled;
      } finally {
        holder.release();
      }
    },
  };
}

/** Longer than any lock is waited for: then they will not come any more. */
const longestLookMillis = 30_000;

/** Until so many sessions of this database wait for a lock. */
async function allWait(count: number, rows: World['rows']): Promise<void> {
  for (const end = performance.now() + longestLookMillis; performance.now() < end;) {
    const [waiting] = await rows<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if ((waiting?.n ?? 0) >= count) return;
    await pause(2);
  }
  throw new Error(`not all of the ${count} calls came to wait for the lock`);
}
