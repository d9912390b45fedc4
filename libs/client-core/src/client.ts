/** The typed client of any tree of operations, over any transport. Each operation is a method of the client. */
import { type InputOf, type Operation, type ResultOf } from '@muster/contract';

/** The effect of an operation, and whether it reads a list that comes in pages. */
export type OperationKind = 'read' | 'list' | 'write';

export const kindOf = ({ effect, result }: Operation): OperationKind =>
  effect === 'read' && 'nextCursor' in result.shape ? 'list' : effect;

export interface CallOptions {
  /**
   * The idempotency key of a write. For 24 hours, a call with an unchanged key and parameters returns the
   * first result again.
   */
  readonly idempotencyKey?: string;
}

/** The fields of an operation that a transport needs. */
export type Called = Pick<Operation, 'name' | 'effect'>;

/** Sends a call to the server and returns its result, or throws a MusterError or NoAnswer. */
export type Transport = (operation: Called, params: unknown, options: CallOptions) => Promise<unknown>;

type WithParams<O extends Operation> = (params: InputOf<O>, options?: CallOptions) => Promise<ResultOf<O>>;
type WithOptionalParams<O extends Operation> = (
  params?: InputOf<O>,
  options?: CallOptions,
) => Promise<ResultOf<O>>;

/**
 * The signature of a method. An operation without required parameters may be called without any. The input
 * type of an operation that takes no parameters has any string as its key.
 */
type Call<O extends Operation> = string extends keyof InputOf<O>
  ? WithOptionalParams<O>
  : Partial<InputOf<O>> extends InputOf<O>
    ? WithOptionalParams<O>
    : WithParams<O>;

/** The additional method of a list. It yields the items of all pages, one by one. */
interface PagedMethod<O extends Operation, Item> {
  readonly all: (params: Omit<InputOf<O>, 'cursor'>) => AsyncGenerator<Item, void, undefined>;
}
type Method<O extends Operation> = O extends { readonly effect: 'read' } ? ReadMethod<O> : Call<O>;
type ReadMethod<O extends Operation> =
  ResultOf<O> extends { items: readonly (infer Item)[]; nextCursor: string | null }
    ? 'view' extends keyof InputOf<O>
      ? ViewMethod<O, Item>
      : Call<O> & PagedMethod<O, Item>
    : Call<O>;

/** The items that a list returns in the card view. Only cards say who works on a story. */
type CardItem<Item> = Extract<Item, { execution: unknown }>;
interface ResultPage<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}
type CardParams<O extends Operation> = InputOf<O> & { readonly view: 'card' };
type SummaryParams<O extends Operation> = InputOf<O> & { readonly view?: 'summary' };

/** The signature of a list with several views. The requested view determines the type of its items. */
interface ViewMethod<O extends Operation, Item> {
  (params: CardParams<O>, options?: CallOptions): Promise<ResultPage<CardItem<Item>>>;
  (params: SummaryParams<O>, options?: CallOptions): Promise<ResultPage<Exclude<Item, CardItem<Item>>>>;
  readonly all: {
    (params: Omit<CardParams<O>, 'cursor'>): AsyncGenerator<CardItem<Item>, void, undefined>;
    (
      params: Omit<SummaryParams<O>, 'cursor'>,
    ): AsyncGenerator<Exclude<Item, CardItem<Item>>, void, undefined>;
  };
}

/** The client of an operation, or of a tree of operations. */
export type ClientOf<Node> = Node extends Operation
  ? Method<Node>
  : { readonly [Word in keyof Node]: ClientOf<Node[Word]> };

interface UntypedPage {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

function createMethod(name: string, kind: OperationKind, transport: Transport): object {
  const operation: Called = { name, effect: kind === 'write' ? 'write' : 'read' };
  const call = (params: unknown = {}, options: CallOptions = {}) => transport(operation, params, options);
  if (kind !== 'list') return call;
  async function* all(params: object): AsyncGenerator<unknown, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = (await call(cursor === undefined ? params : { ...params, cursor })) as UntypedPage;
      yield* page.items;
      cursor = page.nextCursor;
    }
  }
  return Object.assign(call, { all });
}

/** The kind of each operation in a tree. A client needs nothing else of the operations at run time. */
export type KindTree<Node> = Node extends Operation
  ? OperationKind
  : { readonly [Word in keyof Node]: KindTree<Node[Word]> };
export interface KindNamespace {
  readonly [word: string]: OperationKind | KindNamespace;
}

const createMethods = (namespace: KindNamespace, prefix: string, transport: Transport): object =>
  Object.fromEntries(
    Object.entries(namespace).map(([word, node]) => {
      const name = `${prefix}${word}`;
      const inside =
        typeof node === 'string'
          ? createMethod(name, node, transport)
          : createMethods(node, `${name}.`, transport);
      return [word, inside];
    }),
  );

/** Creates a client of the operations whose kinds are given. Its calls go through `transport`. */
export const createClientOf = <Operations>(
  kinds: KindNamespace & KindTree<Operations>,
  transport: Transport,
): ClientOf<Operations> => createMethods(kinds, '', transport) as ClientOf<Operations>;
