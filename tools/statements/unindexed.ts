/** Conditions for which Postgres uses no index where row security holds, read with its own parser. */
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
 * The columns that are compared with a COALESCE of other columns. Postgres takes that for an expression that may show what
 * row security hides, checks the policy first, and so reads all rows of the organization; a CASE that says the same may use
 * the index.
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

/** Of the statement itself: a query within it is asked before, and is a value then. */
function hasColumn(expression: unknown): boolean {
  let has = false;
  walk(expression, (node) => {
    has ||= 'ColumnRef' in node;
    return !('SubLink' in node);
  });
  return has;
}
