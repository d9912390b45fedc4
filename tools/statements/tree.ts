/** Visits each node of what PostgreSQL's parser answers; `visit` says whether what is within is visited too. */
export function walk(node: unknown, visit: (node: object) => boolean): void {
  if (typeof node !== 'object' || node === null || !visit(node)) return;
  for (const inner of Object.values(node)) walk(inner, visit);
}
