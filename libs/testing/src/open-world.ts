/** Opens the world of a spec. Programs that run without Jest use it, too. */
import { sendBurst, type Statement } from '@muster/driver';
import { type EventReaction } from '@muster/runtime';
import { openCalls } from './calls.ts';
import { runUnderContention, waitUntilAllBlocked } from './contention.ts';
import { type TestDatabase } from './database.ts';
import { createMakers } from './makers.ts';
import { type Makers, type World } from './world.ts';

export { openTestDatabase } from './database.ts';
export { type Makers, type People, type Person, type World } from './world.ts';

/** A world that has to be closed together with its database. */
export interface OpenWorld<Handlers = object> extends World<Handlers> {
  close(): Promise<void>;
}

/**
 * Creates a test environment on a database, in which a spec can call the given handlers. Their events trigger the
 * given reactions.
 */
export function openWorld<Handlers extends object>(
  database: TestDatabase,
  handlers: Handlers,
  reactions: readonly EventReaction[] = [],
): OpenWorld<Handlers> {
  const rows = async <Row>(sql: string, ...parameters: unknown[]): Promise<Row[]> =>
    (await database.owner.query(sql, parameters)).rows as Row[];
  const calls = openCalls(database, handlers, reactions);
  const makersBy = createMakers(rows, calls.clientOf);

  const gathered = async <Result>(make: (makers: Makers<Handlers>) => Promise<Result>): Promise<Result> => {
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
    client: calls.clientOf,
    call: (person, handler, params, options = {}) => calls.run(person.me.token, handler, params, options),
    ...makersBy(rows),
    org: (setUp) => gathered(({ org }) => org(setUp)),
    batchStatements: gathered,
    waitUntilBlocked: (count) => waitUntilAllBlocked(count, rows),
    runUnderContention: (lock, ...racing) => runUnderContention(database, rows, lock, racing),
  };
}
