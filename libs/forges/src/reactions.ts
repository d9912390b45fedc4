/** What forges have to do with what happens to executions: facts that waited for one are looked at again. */
import { type Reaction } from '@muster/runtime';
import { askForReplay } from './data/parked.ts';

/** Events after which an execution may be known by more than before. */
const telling: ReadonlySet<string> = new Set([
  'execution.acquired',
  'execution.submitted',
  'execution.updated',
]);

export const forgeReactions: Reaction = async ({ db, happenings }) => {
  for (const { kind, subject, data } of happenings) {
    const executionId = data['executionId'];
    if (!telling.has(kind) || subject.projectId === null || typeof executionId !== 'string') continue;
    db.later(askForReplay(subject.projectId, executionId));
  }
};
