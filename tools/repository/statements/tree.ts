/**
 * Visits each node of the tree that PostgreSQL's parser returns. `visit` returns true if the children of the
 * node are to be visited too.
 */
export function walk(node: unknown, visit: (node: object) => boolean): void {
  if (typeof node !== 'object' || node === null || !visit(node)) return;
  for (const inner of Object.values(node)) walk(inner, visit);
}
