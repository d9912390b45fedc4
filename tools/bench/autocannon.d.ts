/** The part of autocannon's API that the benchmark uses. The package has no types. */
declare module 'autocannon' {
  import { type EventEmitter } from 'node:events';

  namespace autocannon {
    interface Request {
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      /** Called each time before the request is sent. The returned request is sent. */
      readonly setupRequest?: (request: Request, context: Record<string, string>) => Request;
      readonly onResponse?: (status: number, body: string, context: Record<string, string>) => void;
    }

    /** A client with one connection. */
    interface Client extends EventEmitter {
      setRequests(requests: Request[]): void;
    }

    interface Options {
      readonly url: string;
      readonly connections: number;
      /** The duration in seconds. */
      readonly duration: number;
      /** The interval in milliseconds at which autocannon checks for the end of the run. */
      readonly sampleInt?: number;
      /** The number of seconds after which a missing answer counts as an error. */
      readonly timeout?: number;
      readonly setupClient?: (client: Client) => void;
    }

    interface Result {
      readonly errors: number;
      readonly timeouts: number;
      readonly non2xx: number;
      readonly requests: { readonly sent: number };
    }
  }

  function autocannon(options: autocannon.Options): EventEmitter & PromiseLike<autocannon.Result>;
  export default autocannon;
}
