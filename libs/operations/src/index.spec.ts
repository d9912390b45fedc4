import { expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { handlersByOperation } from '@muster/runtime';
import { handlers, performableHandlers } from './index.ts';

const handlerByOperation = handlersByOperation({ ...handlers });

it('each operation of the contract has one handler, which was made for it', () => {
  expect([...handlerByOperation.keys()].toSorted()).toEqual([...operations.keys()].toSorted());
  for (const [name, { operation }] of handlerByOperation) expect(operation).toBe(operations.get(name));
});

it('what only handlers may ask of one another is not in the contract', () => {
  const internal = [...performableHandlers(handlers).keys()].filter((name) => !handlerByOperation.has(name));
  expect(internal).not.toEqual([]);
  expect(internal.filter((name) => operations.has(name))).toEqual([]);
});
