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
  mapValue?: (value: Value, place: number) => Made,
): Promise<(Value | Made)[]> {
  const made: (Value | Made)[] = [];
  for await (const value of list) made.push(mapValue === undefined ? value : mapValue(value, made.length));
  return made;
}

const definePolyfill = (target: object, name: string, value: unknown): void => {
  if (!(name in target)) Object.defineProperty(target, name, { value, configurable: true, writable: true });
};
definePolyfill(Promise, 'withResolvers', withResolvers);
definePolyfill(Array, 'fromAsync', fromAsync);
