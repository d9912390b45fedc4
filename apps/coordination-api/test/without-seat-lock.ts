/** Removes the row lock on seats from statements, to prove that a test fails without it. */
import { type Pool } from '@muster/driver';

const seatLock = /(from subscriptions .*) for no key update$/;

/** The internal statements of pipelined queries. Only this test depends on them. */
interface PatchableClient {
  readonly statements: { sql: string }[];
}

const boundProperty = (target: object, property: string | symbol): unknown => {
  const value: unknown = Reflect.get(target, property);
  // A method of a pg object must be called on that object, not on the proxy.
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
};

/** Returns the pool, with the lock clause removed from statements that lock seats. */
export function withoutSeatLock(pool: Pool): Pool {
  return new Proxy(pool, {
    get: (whole, property) => {
      if (property !== 'connect') return boundProperty(whole, property);
      return async () => {
        const client = await whole.connect();
        return new Proxy(client, {
          get: (connection, name) => {
            if (name !== 'query') return boundProperty(connection, name);
            return (burst: Parameters<typeof client.query>[0] & PatchableClient) => {
              for (const statement of burst.statements) statement.sql = statement.sql.replace(seatLock, '$1');
              return connection.query(burst);
            };
          },
        });
      };
    },
  });
}
