/** What our pools connect with: pg's client, where a burst counts its own time. */
import pg from 'pg';
import { Burst } from './burst.ts';

/** An option of our pools, which hand it to each client. */
export interface ReadTimeout {
  /** How long a query may take until all of its answer is here, in milliseconds. */
  readTimeoutMillis: number;
}

// oxlint-disable-next-line typescript/unbound-method -- it is called on a client, as it would be
const query = pg.Client.prototype.query as (this: pg.Client, ...what: readonly unknown[]) => unknown;
const isSubmittable = (what: object): boolean => 'submit' in what && typeof what.submit === 'function';

/**
 * pg's own `query_timeout` counts by a closure in a field of each query. Of a burst, V8 then keeps the rows of answers that
 * are out of use until it collects all of the heap, and copies them before (docs/decisions/performance.md).
 */
export class Client extends pg.Client {
  readonly readTimeoutMillis: number;

  constructor(config: pg.ClientConfig & ReadTimeout) {
    super(config);
    this.readTimeoutMillis = config.readTimeoutMillis;
  }
}

Client.prototype.query = function (this: Client, first: string | object, ...others: unknown[]): unknown {
  const { readTimeoutMillis } = this;
  if (first instanceof Burst) first.answerWithin(readTimeoutMillis);
  if (typeof first !== 'string' && isSubmittable(first)) return query.call(this, first, ...others);
  const config = typeof first === 'string' ? { text: first } : first;
  return query.call(this, { query_timeout: readTimeoutMillis, ...config }, ...others);
} as typeof pg.Client.prototype.query;
