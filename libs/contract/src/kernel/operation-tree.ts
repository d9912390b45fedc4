import { type Operation } from './operation.ts';

/** A namespace of operations and, as in `projects.members`, of further namespaces. */
export interface OperationTree {
  readonly [word: string]: Operation | OperationTree;
}

export const isOperation = (node: unknown): node is Operation =>
  typeof node === 'object' && node !== null && 'effect' in node && 'params' in node;

export function* walkOperations(namespace: OperationTree): Generator<Operation> {
  for (const node of Object.values(namespace)) {
    if (isOperation(node)) yield node;
    else yield* walkOperations(node);
  }
}
