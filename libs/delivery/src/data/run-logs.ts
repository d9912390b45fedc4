/** The logs of runs. The lines of one call are one row; the run's row has the number of its newest line. */
import { currentOrgId, type Db, limitToPageBytes, orgFilter, type Query, sql } from '@muster/driver';
import { maxRunLogLines, type NewRunLogLine, type RunLogLine } from '@muster/contract';

/** The number of days that lines of a log are kept. */
export const runLogRetentionDays = 30;

/** Appends lines to the log of a locked run, after its line `lastLine`. */
export const appendRunLog = (
  runRowId: string,
  lastLine: number,
  lines: readonly NewRunLogLine[],
  at: string,
): Query<unknown> =>
  sql`insert into run_logs (org_id, run_id, first_line, last_line, lines, at)
     values (${currentOrgId}, ${runRowId}::uuid, ${lastLine + 1}, ${lastLine + lines.length}, ${JSON.stringify(lines)}::jsonb, ${at})`;

/** The number of lines that are no longer kept of a log with `lastLine` lines so far. */
export const countDroppedLines = (lastLine: number): number => Math.max(0, lastLine - maxRunLogLines);

/** Deletes the rows of which no line is kept. */
export const deleteDroppedLines = (runRowId: string, lastLine: number): Query<unknown> =>
  sql`delete from run_logs where ${orgFilter()} and run_id = ${runRowId} and last_line <= ${countDroppedLines(lastLine)}`;

/** Reads the lines after `afterLine`, oldest first. */
export function listRunLog(
  db: Db,
  runRowId: string,
  { afterLine, limit }: { readonly afterLine: number; readonly limit: number },
): Promise<RunLogLine[]> {
  return db
    .all(
      sql<RunLogLine>`${limitToPageBytes(
        // Each row has at least one line, so as many rows as lines are enough.
        sql.part`select l.first_line + x.nth::int - 1 as line, x.value ->> 'stream' as stream,
             x.value ->> 'message' as message, l.at
           from (select * from run_logs where ${orgFilter()} and run_id = ${runRowId} and last_line > ${afterLine}
             order by last_line limit ${limit}) l
           cross join lateral jsonb_array_elements(l.lines) with ordinality x (value, nth)
           where l.first_line + x.nth - 1 > ${afterLine}
           order by line limit ${limit}`,
        sql.part`octet_length(q.message)`,
        sql.part`q.line`,
      )}`,
    )
    .then((rows) => rows.map(({ line, stream, message, at }) => ({ line, stream, message, at })));
}
