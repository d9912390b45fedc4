import { type Client, createClient } from './client.ts';
import { type HttpOptions, httpTransport } from './http.ts';
import { retrying, type RetryOptions } from './retrying.ts';

/** Creates a client over HTTP that retries calls that an outage interrupted. Most programs should use it. */
export const connect = (options: HttpOptions & RetryOptions): Client =>
  createClient(retrying(httpTransport(options), options));
