/**
 * Polyfills for Node 20: standard functions of Node 22 and later, limited to the parts that the command line
 * uses.
 */

function withResolvers<Value>(this: PromiseConstructor): PromiseWithResolvers<Value> {
  let resolve: PromiseWithResolvers<Value>['resolve'] | undefined;
  let reject: PromiseWithResolvers<Value>['reject'] | undefined;
  const promise = new this<Value>((...both) => {
    [resolve, reject] = both;
  });
  if (resolve === undefined || reject === undefined) throw new TypeError('a promise calls back at once');
  return { promise, resolve, reject };
}

async function fromAsync<Value, Made = Value>(
  list: AsyncIterable<Value>,
  make?: (value: Value, place: number) => Made,
): Promise<(Value | Made)[]> {
  const made: (Value | Made)[] = [];
  for await (const value of list) made.push(make === undefined ? value : make(value, made.length));
  return made;
}

const missing = (of: object, name: string, value: unknown): void => {
  if (!(name in of)) Object.defineProperty(of, name, { value, configurable: true, writable: true });
};
missing(Promise, 'withResolvers', withResolvers);
missing(Array, 'fromAsync', fromAsync);
