/** The client class of our pools. It is pg's client with a different read timeout: each burst measures its own. */
import pg from 'pg';
import { StatementBurst } from './burst.ts';

/** The pool option that pg passes on to each client. */
export interface ReadTimeout {
  /** The time limit, in milliseconds, until the complete answer of a query has arrived. */
  readTimeoutMillis: number;
}

// oxlint-disable-next-line typescript/unbound-method -- it is called on a client, as it would be
const originalClientQuery = pg.Client.prototype.query as (
  this: pg.Client,
  ...what: readonly unknown[]
) => unknown;
const isSubmittable = (candidate: object): boolean =>
  'submit' in candidate && typeof candidate.submit === 'function';

/**
 * A client whose bursts have their own read timeout. pg's `query_timeout` puts a closure into a field of each query.
 * With it, V8 copies the unused rows of a burst and retains them until a full garbage collection
 * (docs/decisions/performance.md).
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
  if (first instanceof StatementBurst) first.answerWithin(readTimeoutMillis);
  if (typeof first !== 'string' && isSubmittable(first))
    return originalClientQuery.call(this, first, ...others);
  const config = typeof first === 'string' ? { text: first } : first;
  return originalClientQuery.call(this, { query_timeout: readTimeoutMillis, ...config }, ...others);
} as typeof pg.Client.prototype.query;
