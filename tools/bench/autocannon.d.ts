/** The part of autocannon that is used; it comes without types. */
declare module 'autocannon' {
  import { type EventEmitter } from 'node:events';

  namespace autocannon {
    interface Request {
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      /** Each time before it is sent; what it answers is sent. */
      readonly setupRequest?: (request: Request, context: Record<string, string>) => Request;
      readonly onResponse?: (status: number, body: string, context: Record<string, string>) => void;
    }

    /** One connection. */
    interface Client extends EventEmitter {
      setRequests(requests: Request[]): void;
    }

    interface Options {
      readonly url: string;
      readonly connections: number;
      /** Seconds. */
      readonly duration: number;
      /** Milliseconds; the end of the run is looked for at this pace. */
      readonly sampleInt?: number;
      /** Seconds after which an answer counts as an error. */
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
