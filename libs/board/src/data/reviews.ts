/** What reviewers said of a story. */
import { type Db } from '@muster/database';
import { type Gates } from '../rules/workflow.ts';

export type ReviewCounts = Pick<Gates, 'freshApprovals' | 'freshChangesRequested'>;

/** Verdicts that are about the spec and the code as they are now. There are no reviewers yet, so there are none. */
export const countReviews = async (_db: Db, _orgId: string, _storyRef: string): Promise<ReviewCounts> => ({
  freshApprovals: 0,
  freshChangesRequested: 0,
});
