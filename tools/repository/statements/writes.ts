/** Finds the tables that a statement writes. It uses PostgreSQL's own parser. */
import { parse } from 'libpg-query';
import { walk } from './tree.ts';

const writing = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);

export async function tablesWrittenBy(text: string): Promise<ReadonlySet<string>> {
  const tables = new Set<string>();
  walk(await parse(text), (node) => {
    for (const [kind, inner] of Object.entries(node)) {
      const table = writing.has(kind) ? (inner as Written).relation?.relname : undefined;
      if (table !== undefined) tables.add(table);
    }
    return true;
  });
  return tables;
}

interface Written {
  readonly relation?: { readonly relname?: string };
}
