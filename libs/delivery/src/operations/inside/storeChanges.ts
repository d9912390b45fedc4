import { internalOperations } from '@muster/registry';
import { handle } from '@muster/runtime';
import { storeChangesFailure, storeCodeChanges } from '../../data/code-changes.ts';
import { limitChanges } from '../../rules/change-limits.ts';
import { parseUnifiedDiff } from '../../rules/unified-diff.ts';

export const storeChanges = handle(internalOperations.storeChanges, async ({ params, db }) => {
  const { reported, truncated, ...report } = params;
  if (typeof reported === 'object' && 'failure' in reported) {
    db.deferToCommit(storeChangesFailure(report, reported.failure));
    return { stored: false };
  }
  const { files, isCut } = limitChanges(typeof reported === 'string' ? parseUnifiedDiff(reported) : reported);
  return { stored: await storeCodeChanges(db, { ...report, truncated: truncated || isCut }, files) };
});
