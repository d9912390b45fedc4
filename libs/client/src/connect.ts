import { type HttpOptions, httpTransport, retrying, type RetryOptions } from '@muster/client-core';
import { type Client, createClient } from './client.ts';

/** Creates a client over HTTP that retries calls that an outage interrupted. Most programs should use it. */
export const connect = (options: HttpOptions & RetryOptions): Client =>
  createClient(retrying(httpTransport(options), options));
