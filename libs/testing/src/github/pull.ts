/**
 * The life of a pull request as GitHub delivers it. Payloads have only the fields that matter to the work.
 */

/** A delivery: the event of its header, and its body. */
export interface GithubEvent {
  readonly event: string;
  readonly payload: unknown;
}

export interface PullRequestExample {
  readonly repository: {
    readonly id: number;
    readonly html_url: string;
    readonly full_name: string;
    readonly default_branch: string;
  };
  readonly number: number;
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string | null;
  /** The id of the repository that contains the head, if it differs from `repository`. */
  readonly headRepository?: number;
}

export const acmeRepository = {
  id: 4_711,
  html_url: 'https://github.com/acme/api',
  full_name: 'acme/api',
  default_branch: 'main',
} as const;

export const shaOf = (letter: string): string => letter.repeat(40);
/** Returns the time at the given number of seconds after the pull request's life begins. */
export const timeAfterSeconds = (seconds: number): string =>
  new Date(Date.UTC(2026, 10, 21, 9, 0, seconds)).toISOString();

export const pullUrl = (pullRequest: PullRequestExample): string =>
  `${pullRequest.repository.html_url}/pull/${pullRequest.number}`;

const pullPayload = (
  pullRequest: PullRequestExample,
  sha: string,
  seconds: number,
  overrides: object = {},
) => ({
  number: pullRequest.number,
  html_url: pullUrl(pullRequest),
  title: pullRequest.title,
  body: pullRequest.body,
  head: {
    ref: pullRequest.branch,
    sha,
    repo: { id: pullRequest.headRepository ?? pullRequest.repository.id },
  },
  base: { ref: pullRequest.base, sha: shaOf('0'), repo: { id: pullRequest.repository.id } },
  merged: false,
  merge_commit_sha: null,
  mergeable_state: 'clean',
  created_at: timeAfterSeconds(1),
  updated_at: timeAfterSeconds(seconds),
  closed_at: null,
  merged_at: null,
  ...overrides,
});

export const pullEvent = (
  pullRequest: PullRequestExample,
  action: string,
  sha: string,
  seconds: number,
  overrides: object = {},
) => ({
  event: 'pull_request',
  payload: {
    action,
    pull_request: pullPayload(pullRequest, sha, seconds, overrides),
    repository: pullRequest.repository,
  },
});
export const mergedEvent = (pullRequest: PullRequestExample, sha: string, seconds: number) =>
  pullEvent(pullRequest, 'closed', sha, seconds, {
    ...{ merged: true, merge_commit_sha: shaOf('f') },
    ...{ merged_at: timeAfterSeconds(seconds), closed_at: timeAfterSeconds(seconds) },
  });
export const pushEvent = (
  pullRequest: PullRequestExample,
  sha: string,
  seconds: number,
  message = 'Change',
) => ({
  event: 'push',
  payload: {
    ref: `refs/heads/${pullRequest.branch}`,
    after: sha,
    deleted: false,
    commits: [{ message, timestamp: timeAfterSeconds(seconds) }],
    head_commit: { message, timestamp: timeAfterSeconds(seconds) },
    repository: {
      ...pullRequest.repository,
      pushed_at: Math.floor(Date.parse(timeAfterSeconds(seconds)) / 1_000),
    },
  },
});
export const suiteEvent = (
  pullRequest: PullRequestExample,
  sha: string,
  {
    app,
    conclusion,
    seconds,
  }: { readonly app: number; readonly conclusion: string | null; readonly seconds: number },
) => ({
  event: 'check_suite',
  payload: {
    action: conclusion === null ? 'requested' : 'completed',
    check_suite: {
      id: app,
      head_sha: sha,
      conclusion,
      updated_at: timeAfterSeconds(seconds),
      app: { id: app },
    },
    repository: pullRequest.repository,
  },
});
export const reviewEvent = (
  pullRequest: PullRequestExample,
  state: string,
  sha: string,
  secondsAfterStart: number,
  user: number | null = null,
) => ({
  event: 'pull_request_review',
  payload: {
    action: state === 'dismissed' ? 'dismissed' : 'submitted',
    review: {
      ...{ state, commit_id: sha, submitted_at: timeAfterSeconds(secondsAfterStart) },
      user: user === null ? null : { id: user },
    },
    pull_request: pullPayload(pullRequest, sha, secondsAfterStart),
    repository: pullRequest.repository,
  },
});

/**
 * Returns the deliveries of a pull request's life: pushed, opened, failed, pushed again, run again, approved,
 * merged.
 */
export const lifecycleEvents = (
  pullRequest: PullRequestExample,
  firstSha: string,
  secondSha: string,
): GithubEvent[] => [
  pushEvent(pullRequest, firstSha, 1),
  pullEvent(pullRequest, 'opened', firstSha, 2),
  suiteEvent(pullRequest, firstSha, { app: 1, conclusion: 'failure', seconds: 3 }),
  pushEvent(pullRequest, secondSha, 5),
  pullEvent(pullRequest, 'synchronize', secondSha, 6),
  suiteEvent(pullRequest, secondSha, { app: 1, conclusion: 'failure', seconds: 8 }),
  suiteEvent(pullRequest, secondSha, { app: 2, conclusion: 'success', seconds: 9 }),
  suiteEvent(pullRequest, secondSha, { app: 1, conclusion: 'success', seconds: 9 }),
  reviewEvent(pullRequest, 'approved', secondSha, 10),
  mergedEvent(pullRequest, secondSha, 12),
];
