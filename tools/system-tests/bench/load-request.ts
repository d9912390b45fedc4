/** The path of each value in the answer, by the value's name: property names separated by dots. */
export type Remember = Readonly<Record<string, string>>;

/** A request as one connection sends it. */
export interface LoadRequest {
  readonly path: string;
  /** The HTTP method. POST if it is undefined. */
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  /** The body, with `{{name}}` in place of each remembered value. */
  readonly body: string;
  /** Values of the answer that the connection remembers until it starts its requests from the beginning. */
  readonly remember?: Remember;
}

/** A run against one server. Each connection repeats its own requests. */
export interface LoadRun {
  readonly url: string;
  readonly lanes: readonly (readonly LoadRequest[])[];
  readonly seconds: number;
}

export interface LoadResult {
  /** Requests per second that were answered with 2xx, from the start to the last answer. */
  readonly rate: number;
  readonly answered: number;
  /**
   * The number of sent requests. It includes requests that were cut off at the end, because the server worked
   * on them, too.
   */
  readonly sent: number;
  /** Connection errors and answers other than 2xx. */
  readonly failed: number;
  /** The first answer other than 2xx. */
  readonly refused: { readonly status: number; readonly body: string } | null;
  /** The median in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Puts load on a server from a separate process, load.ts. */
export type Load = (run: LoadRun) => Promise<LoadResult>;
