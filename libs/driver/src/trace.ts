/** What traces are told of statements: which they are, never what they carry. */
import { inSpan, traceParent } from '@muster/tracing';
import { LRUCache } from 'lru-cache';
import { type Statement } from './burst.ts';
import { bind, sql } from './sql.ts';

/** What a statement changes, or else reads first; a CTE's own reads among it. */
const changes = /\b(insert into|update|delete from)\s+"?(?!of\b|set\b|skip\b)([a-z_.]+)/i;
const reads = /\bfrom\s+"?([a-z_.]+)/i;
const calls = /^\s*select\s+([a-z_.]+)\(/i;

/** By statements, of which the code has fewer. */
const summaries = new LRUCache<string, string>({ max: 1_000 });

/** `update stories`, `select app.enter`, `commit`: a few words of the text that is the same for each call. */
export function summaryOf(sql: string): string {
  let summary = summaries.get(sql);
  if (summary === undefined) {
    const [, verb = '', changed = ''] = changes.exec(sql) ?? [];
    const [, read] = reads.exec(sql) ?? calls.exec(sql) ?? [];
    const [word = ''] = /[a-z]+/i.exec(sql) ?? [];
    summary = (
      changed !== '' ? `${verb} ${changed}` : read === undefined ? word : `select ${read}`
    ).toLowerCase();
    summaries.set(sql, summary);
  }
  return summary;
}

const mostNameLength = 200;

/** A round trip. */
export const inBurstSpan = <Result>(
  statements: readonly Statement[],
  work: () => Promise<Result>,
): Promise<Result> =>
  inSpan(() => {
    const summary = statements.map(({ sql }) => summaryOf(sql)).join(', ');
    return {
      name: summary.slice(0, mostNameLength),
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.query.summary': summary,
        'db.operation.batch.size': statements.length,
      },
    };
  }, work);

/** A transaction from the wait for its connection to its end. */
export const inTransactionSpan = <Result>(work: () => Promise<Result>): Promise<Result> =>
  inSpan(() => ({ name: 'transaction', attributes: { 'db.system.name': 'postgresql' } }), work);

/** Said at the start of a transaction that is part of a trace: each row of the outbox takes its trace from there. */
export function traceStatements(): Statement[] {
  const parent = traceParent();
  return parent === undefined
    ? []
    : [bind(sql`select set_config('muster.trace_parent', ${parent}, true)`, null)];
}
