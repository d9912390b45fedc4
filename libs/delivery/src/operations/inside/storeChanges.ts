import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';
import { hasWorkedOn, storeChangesFailure, storeCodeChanges } from '../../data/code-changes.ts';
import { limitChanges } from '../../rules/change-limits.ts';
import { parseUnifiedDiff } from '../../rules/unified-diff.ts';

export const storeChanges = handle(internalOperations.storeChanges, async ({ params, db, caller }) => {
  const { reported, truncated, ...report } = params;
  // Only who worked on it may say what the work changed.
  if (report.source === 'runner' && !(await hasWorkedOn(db, report.executionId, caller.actor)))
    return { stored: false };
  if (typeof reported === 'object' && 'failure' in reported) {
    db.deferToCommit(storeChangesFailure(report, reported.failure));
    return { stored: false };
  }
  const { files, isCut } = limitChanges(typeof reported === 'string' ? parseUnifiedDiff(reported) : reported);
  return { stored: await storeCodeChanges(db, { ...report, truncated: truncated || isCut }, files) };
});
