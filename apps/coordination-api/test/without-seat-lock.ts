/** For a race that has to be lost: the connections as they would be had nobody thought of locking the seats. */
import { type Pool } from '@muster/driver';

const seatLock = /(from subscriptions .*) for no key update$/;

/** A burst as it lies on its way to the connection. It is nobody's business but for whoever is out to break it. */
interface Breakable {
  readonly statements: { sql: string }[];
}

const bound = (target: object, property: string | symbol): unknown => {
  const value: unknown = Reflect.get(target, property);
  // pg's own methods go by their own object, not by what stands before it.
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
};

/** The pool, but for the lock clause of whoever locks seats, which is taken out of what goes to Postgres. */
export function withoutSeatLock(pool: Pool): Pool {
  return new Proxy(pool, {
    get: (whole, property) => {
      if (property !== 'connect') return bound(whole, property);
      return async () => {
        const client = await whole.connect();
        return new Proxy(client, {
          get: (connection, name) => {
            if (name !== 'query') return bound(connection, name);
            return (burst: Parameters<typeof client.query>[0] & Breakable) => {
              for (const statement of burst.statements) statement.sql = statement.sql.replace(seatLock, '$1');
              return connection.query(burst);
            };
          },
        });
      };
    },
  });
}
