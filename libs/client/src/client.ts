/** The typed client: every operation of the registry as a method, over any transport. */
import {
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

/** Takes a call to the server and brings back its result, or throws a MusterError or NoAnswer. */
export type Transport = (operation: Operation, params: unknown, options: CallOptions) => Promise<unknown>;

type WithParams<O extends Operation> = (params: InputOf<O>, options?: CallOptions) => Promise<ResultOf<O>>;
type WithOrWithout<O extends Operation> = (
  params?: InputOf<O>,
  options?: CallOptions,
) => Promise<ResultOf<O>>;

/** An operation without a required parameter may be called without any; one that takes none at all has any key as never. */
type Call<O extends Operation> = string extends keyof InputOf<O>
  ? WithOrWithout<O>
  : Partial<InputOf<O>> extends InputOf<O>
    ? WithOrWithout<O>
    : WithParams<O>;

/** A list can also be read item by item, over all of its pages. */
interface AllOf<O extends Operation, Item> {
  readonly all: (params: Omit<InputOf<O>, 'cursor'>) => AsyncGenerator<Item, void, undefined>;
}
type Method<O extends Operation> =
  ResultOf<O> extends { items: readonly (infer Item)[]; nextCursor: string | null }
    ? Call<O> & AllOf<O, Item>
    : Call<O>;

type Methods<Node> = Node extends Operation
  ? Method<Node>
  : { readonly [Word in keyof Node]: Methods<Node[Word]> };

export type Client = Methods<Registry>;

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

function methodOf(operation: Operation, transport: Transport): object {
  const call = (params: unknown = {}, options: CallOptions = {}) => transport(operation, params, options);
  const isList = 'nextCursor' in operation.result.shape;
  if (!isList) return call;
  async function* all(params: object): AsyncGenerator<unknown, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = (await call(cursor === undefined ? params : { ...params, cursor })) as Page;
      yield* page.items;
      cursor = page.nextCursor;
    }
  }
  return Object.assign(call, { all });
}

function methodsOf(node: object, transport: Transport): object {
  return Object.fromEntries(
    Object.entries(node).map(([word, child]: [string, unknown]) => [
      word,
      isOperation(child) ? methodOf(child, transport) : methodsOf(child as object, transport),
    ]),
  );
}

/** A client whose calls go through `transport`. */
export const createClient = (transport: Transport): Client => methodsOf(registry, transport) as Client;
