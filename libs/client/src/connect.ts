import { type Client, createClient } from './client.ts';
import { type HttpOptions, httpTransport } from './http.ts';
import { retrying, type RetryOptions } from './retrying.ts';

/** A client over HTTP that tries again what an outage cut off. What most programs want. */
export const connect = (options: HttpOptions & RetryOptions): Client =>
  createClient(retrying(httpTransport(options), options));
