/** The typed client: every operation of the registry as a method, over any transport. */
import {
  type ErrorBody,
  type InputOf,
  isOperation,
  type Operation,
  registry,
  type Registry,
  type ResultOf,
} from '@muster/registry';

export interface CallOptions {
  /** Makes a write safe to repeat: the same key and params answer the first result again, for 24 hours. */
  readonly idempotencyKey?: string;
}

/** Takes a call to the server and brings back its result, or throws a MusterError. */
export type Transport = (operation: Operation, params: unknown, options: CallOptions) => Promise<unknown>;

/** The API's error object as an exception. Act on `code` and `reason`, not on the message. */
export class MusterError extends Error {
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(`${body.code}: ${body.message}`);
    this.name = 'MusterError';
    this.body = body;
  }

  get status(): number {
    return this.body.status;
  }

  get code(): ErrorBody['code'] {
    return this.body.code;
  }

  get reason(): string | undefined {
    return this.body.details?.reason;
  }
}

type WithParams<O extends Operation> = (params: InputOf<O>, options?: CallOptions) => Promise<ResultOf<O>>;
type WithOrWithout<O extends Operation> = (
  params?: InputOf<O>,
  options?: CallOptions,
) => Promise<ResultOf<O>>;

/** An operation without a required parameter may be called without any; one that takes none at all has any key as never. */
type Method<O extends Operation> = string extends keyof InputOf<O>
  ? WithOrWithout<O>
  : Partial<InputOf<O>> extends InputOf<O>
    ? WithOrWithout<O>
    : WithParams<O>;

type Methods<Node> = Node extends Operation
  ? Method<Node>
  : { readonly [Word in keyof Node]: Methods<Node[Word]> };

export type Client = Methods<Registry>;

function methodsOf(node: object, transport: Transport): object {
  return Object.fromEntries(
    Object.entries(node).map(([word, child]: [string, unknown]) => [
      word,
      isOperation(child)
        ? (params: unknown = {}, options: CallOptions = {}) => transport(child, params, options)
        : methodsOf(child as object, transport),
    ]),
  );
}

/** A client whose calls go through `transport`. */
export const createClient = (transport: Transport): Client => methodsOf(registry, transport) as Client;
