import { makeShortenable } from '@muster/driver';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, pathNotFound } from '@muster/runtime';
import { findRun } from '../../../data/run-lists.ts';
import { countDroppedLines, listRunLog } from '../../../data/run-logs.ts';

export const log = handle(
  deliveryRegistry.agents.runs.log,
  async ({ params, caller, db, waitForNewEvents }) => {
    const found = await findRun(db, caller, params);
    if (found === undefined) throw pathNotFound('runId');
    const { run, rowId, logLines } = found;
    const dropped = countDroppedLines(logLines);
    const afterLine = Math.max(params.afterLine, dropped);
    const items = rowId === null ? [] : await listRunLog(db, rowId, { afterLine, limit: params.limit });
    if (items.length === 0 && rowId !== null && run.endedAt === null && params.waitSeconds > 0)
      // Any newer line ends the wait, so the caller may also ask for lines that come much later.
      waitForNewEvents({
        position: { runRowId: rowId, afterLine: logLines },
        timeoutSeconds: params.waitSeconds,
      });
    const upTo = (count: number) => ({
      items: items.slice(0, count),
      dropped,
      lastLine: logLines,
      state: run.state,
    });
    return makeShortenable(upTo(items.length), upTo);
  },
);
