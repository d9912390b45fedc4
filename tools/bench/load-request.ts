import { type Remember } from './memory.ts';

/** A request as one connection sends it. */
export interface LoadRequest {
  readonly path: string;
  /** POST unless told. */
  readonly method?: 'GET';
  readonly headers: Readonly<Record<string, string>>;
  /** With `{{name}}` where something that was remembered stands. */
  readonly body: string;
  /** What the connection keeps of the answer until its requests begin anew. */
  readonly remember?: Remember;
}

/** A run against one server: each connection goes through its own requests again and again. */
export interface Run {
  readonly url: string;
  readonly lanes: readonly (readonly LoadRequest[])[];
  readonly seconds: number;
}

export interface LoadResult {
  /** Requests answered with 2xx per second, from the start to the last answer. */
  readonly rate: number;
  readonly answered: number;
  /** Those that were cut off at the end included: the server worked on them too. */
  readonly sent: number;
  /** Errors of connections and answers other than 2xx. */
  readonly failed: number;
  /** The first answer other than 2xx. */
  readonly refused: { readonly status: number; readonly body: string } | null;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Puts load on a server from a process of its own, load.ts. */
export type Load = (run: Run) => Promise<LoadResult>;
