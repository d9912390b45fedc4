/** Trace spans of statements. They have summaries of the SQL and never its parameters. */
import { inSpan, traceParent } from '@muster/tracing';
import { LRUCache } from 'lru-cache';
import { bindStatement, sql, type Statement } from './sql.ts';

/** Patterns for the verb and table of a summary. The first table that is written counts, otherwise the first one read. */
const changePattern = /\b(insert into|update|delete from)\s+"?(?!of\b|set\b|skip\b)([a-z_.]+)/i;
const readPattern = /\bfrom\s+"?([a-z_.]+)/i;
const callPattern = /^\s*select\s+([a-z_.]+)\(/i;

/** Summaries by SQL text. The limit is above the number of statements in the code. */
const summaries = new LRUCache<string, string>({ max: 1_000 });

/** Summarizes a statement in a few words, such as `update stories`, `select app.enter` or `commit`. */
export function summarizeStatement(sql: string): string {
  let summary = summaries.get(sql);
  if (summary === undefined) {
    const [, verb = '', changed = ''] = changePattern.exec(sql) ?? [];
    const [, read] = readPattern.exec(sql) ?? callPattern.exec(sql) ?? [];
    const [word = ''] = /[a-z]+/i.exec(sql) ?? [];
    summary = (
      changed !== '' ? `${verb} ${changed}` : read === undefined ? word : `select ${read}`
    ).toLowerCase();
    summaries.set(sql, summary);
  }
  return summary;
}

const maxSpanNameLength = 200;

/** Records a span for one round trip. */
export const inBurstSpan = <Result>(
  statements: readonly Statement[],
  work: () => Promise<Result>,
): Promise<Result> =>
  inSpan(() => {
    const summary = statements.map(({ sql }) => summarizeStatement(sql)).join(', ');
    return {
      name: summary.slice(0, maxSpanNameLength),
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.query.summary': summary,
        'db.operation.batch.size': statements.length,
      },
    };
  }, work);

/** Records a span for a transaction, including the wait for its connection. */
export const inTransactionSpan = <Result>(work: () => Promise<Result>): Promise<Result> =>
  inSpan(() => ({ name: 'transaction', attributes: { 'db.system.name': 'postgresql' } }), work);

/** Returns the statement that stores the trace parent of the transaction. Each outbox row copies it. */
export function traceStatements(): Statement[] {
  const parent = traceParent();
  return parent === undefined
    ? []
    : [bindStatement(sql`select set_config('muster.trace_parent', ${parent}, true)`, null)];
}
