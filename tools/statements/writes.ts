/** Which tables a statement writes, read with PostgreSQL's own parser. */
import { parse } from 'libpg-query';

const writing = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);

export async function tablesWrittenBy(text: string): Promise<ReadonlySet<string>> {
  const tables = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [kind, inner] of Object.entries(node)) {
      const table = writing.has(kind) ? (inner as Written).relation?.relname : undefined;
      if (table !== undefined) tables.add(table);
      walk(inner);
    }
  };
  walk(await parse(text));
  return tables;
}

interface Written {
  readonly relation?: { readonly relname?: string };
}
