/** The pull request of a story or of work, and whether it can be merged on its forge. */
import { type Execution, type Git } from '@muster/contract';

export interface PullRequestFacts {
  readonly number: number;
  readonly url: string;
  /** True if it is open and its checks have passed. */
  readonly isMergeable: boolean;
}

/** Returns the pull request of a story, otherwise that of the work on it. */
export function pullRequestOf(
  git: Git | null,
  execution: Pick<Execution, 'git' | 'pullRequest'> | null,
): PullRequestFacts | null {
  const known = git?.pullRequest ?? execution?.git?.pullRequest ?? null;
  const found = known ?? execution?.pullRequest ?? null;
  if (found === null) return null;
  const checks = git?.checks ?? execution?.git?.checks;
  return {
    ...{ number: found.number, url: found.url },
    isMergeable: known?.state === 'open' && checks === 'passing',
  };
}

/** Names GitHub and GitLab by the path of their pull requests; null for other forges, whose paths are the same. */
export function forgeNameOf(url: string): string | null {
  if (/\/-\/merge_requests\/\d+/.test(url)) return 'GitLab';
  return /\/pull\/\d+/.test(url) ? 'GitHub' : null;
}
