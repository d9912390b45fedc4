/** How what is known of code changes, of a story, a group or an execution alike. */
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

/** Field by field: what is left out stays, null clears; a pull request is replaced as a whole. */
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
