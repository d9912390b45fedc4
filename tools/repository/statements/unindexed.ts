/**
 * Finds conditions for which Postgres cannot use an index while row security is active. It uses PostgreSQL's
 * own parser.
 */
import { parse } from 'libpg-query';
import { walk } from './tree.ts';

interface Expression {
  readonly A_Expr?: {
    readonly name?: readonly Name[];
    readonly lexpr?: Expression;
    readonly rexpr?: Expression;
  };
  readonly ColumnRef?: { readonly fields?: readonly Name[] };
  readonly CoalesceExpr?: unknown;
}
interface Name {
  readonly String?: { readonly sval?: string };
}

/**
 * Lists the columns that are compared with a COALESCE of other columns. Postgres considers that expression
 * leaky, so it checks the policy first and reads all rows of the organization. An equivalent CASE may use the
 * index.
 */
export async function comparedWithCoalesce(text: string): Promise<string[]> {
  const found: string[] = [];
  walk(await parse(text), (node) => {
    const { name, lexpr, rexpr } = (node as Expression).A_Expr ?? {};
    if (name?.[0]?.String?.sval !== '=') return true;
    for (const [column, other] of [
      [lexpr, rexpr],
      [rexpr, lexpr],
    ])
      if (column?.ColumnRef !== undefined && other?.CoalesceExpr !== undefined && hasColumn(other))
        found.push((column.ColumnRef.fields ?? []).map(({ String: part }) => part?.sval ?? '*').join('.'));
    return true;
  });
  return found;
}

/**
 * Returns true if the expression itself has a column. A subquery in the expression runs first and then counts
 * as a value.
 */
function hasColumn(expression: unknown): boolean {
  let has = false;
  walk(expression, (node) => {
    has ||= 'ColumnRef' in node;
    return !('SubLink' in node);
  });
  return has;
}
