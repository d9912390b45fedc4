/**
 * Namespaces that can be called under a single path, with the last word of the operation's name in the body.
 * `POST /api/admin/platform {"operation": "metrics"}` equals `POST /api/admin/platform/metrics {}`.
 */
import { type Operation, pathOf } from '@muster/contract';

const singlePathNamespaces = ['admin.platform', 'agents.catalog'] as const;

export interface NamespacePath {
  readonly namespace: string;
  /** The two spellings of the path. The documented spelling is first. */
  readonly paths: readonly [string, string];
  /** The namespace's operations by the last word of their names. */
  readonly words: ReadonlyMap<string, Operation>;
  /** The largest body limit of the namespace's operations. */
  readonly bodyLimit: number;
}

/** Lists the paths of the namespaces that contain any of these operations. */
export function namespacePaths(operations: ReadonlyMap<string, Operation>): NamespacePath[] {
  return singlePathNamespaces.flatMap((namespace) => {
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
