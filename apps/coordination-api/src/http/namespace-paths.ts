/**
 * Namespaces that can be called as one path: the last word of the operation's name stands in the body, beside its
 * parameters. `POST /api/admin/platform {"operation": "metrics"}` is `POST /api/admin/platform/metrics {}`.
 */
import { type Operation, pathOf } from '@muster/registry';

const calledAsOne = ['admin.platform', 'agents.catalog'] as const;

export interface NamespacePath {
  readonly namespace: string;
  /** In each spelling, the documented one first. */
  readonly paths: readonly [string, string];
  /** Its operations by the last word of their names. */
  readonly words: ReadonlyMap<string, Operation>;
  /** That of its operation that takes most. */
  readonly bodyLimit: number;
}

/** The paths of those namespaces that have one of these operations. */
export function namespacePaths(operations: ReadonlyMap<string, Operation>): NamespacePath[] {
  return calledAsOne.flatMap((namespace) => {
    const inside = [...operations.values()].filter((operation) => operation.namespace === namespace);
    if (inside.length === 0) return [];
    return {
      namespace,
      paths: [pathOf(namespace), `/api/${namespace}`],
      words: new Map(inside.map((operation) => [operation.name.slice(namespace.length + 1), operation])),
      bodyLimit: Math.max(...inside.map((operation) => operation.bodyLimit)),
    };
  });
}
