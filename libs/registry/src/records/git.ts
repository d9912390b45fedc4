/** Updates the information about the code of stories, groups and executions. */
import { type z } from 'zod';
import { branchName } from './code-places.ts';
import { type Git, type GitMeta } from './story.ts';

export const nothingKnown: Git = {
  branch: null,
  baseBranch: null,
  headSha: null,
  diffHash: null,
  pullRequest: null,
  checks: null,
};

const kept = <Value>(now: Value, news: Value | undefined): Value => (news === undefined ? now : news);

/**
 * Merges new information about the code into the known one, field by field. An omitted field stays unchanged,
 * null clears it, and a pull request is replaced as a whole.
 */
export function mergeGit(now: Git, news: z.output<typeof GitMeta>): Git {
  const { pullRequest } = news;
  return {
    branch: kept(now.branch, news.branch && branchName(news.branch)),
    baseBranch: kept(now.baseBranch, news.baseBranch && branchName(news.baseBranch)),
    headSha: kept(now.headSha, news.headSha),
    diffHash: kept(now.diffHash, news.diffHash),
    pullRequest: kept(now.pullRequest, pullRequest && { ...pullRequest, title: pullRequest.title ?? null }),
    checks: kept(now.checks, news.checks),
  };
}
