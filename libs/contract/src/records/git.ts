/** Updates the information about the code of stories, groups and executions. */
import { type z } from 'zod';
import { shortBranchName } from './code-places.ts';
import { type Git, type GitMeta } from './story.ts';

export const emptyGit: Git = {
  branch: null,
  baseBranch: null,
  headSha: null,
  diffHash: null,
  pullRequest: null,
  checks: null,
};

const updatedOrCurrent = <Value>(current: Value, update: Value | undefined): Value =>
  update === undefined ? current : update;

/**
 * Merges new information about the code into the known one, field by field. An omitted field stays unchanged,
 * null clears it, and a pull request is replaced as a whole.
 */
export function mergeGit(current: Git, update: z.output<typeof GitMeta>): Git {
  const { pullRequest } = update;
  return {
    branch: updatedOrCurrent(current.branch, update.branch && shortBranchName(update.branch)),
    baseBranch: updatedOrCurrent(current.baseBranch, update.baseBranch && shortBranchName(update.baseBranch)),
    headSha: updatedOrCurrent(current.headSha, update.headSha),
    diffHash: updatedOrCurrent(current.diffHash, update.diffHash),
    pullRequest: updatedOrCurrent(
      current.pullRequest,
      pullRequest && { ...pullRequest, title: pullRequest.title ?? null },
    ),
    checks: updatedOrCurrent(current.checks, update.checks),
  };
}
