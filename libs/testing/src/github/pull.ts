/**
 * The life of a pull request as GitHub delivers it. Payloads have only the fields that matter to the work.
 */

/** A delivery: the event of its header, and its body. */
export interface GithubEvent {
  readonly event: string;
  readonly payload: unknown;
}

export interface PullLife {
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

export const acmeApi = {
  id: 4_711,
  html_url: 'https://github.com/acme/api',
  full_name: 'acme/api',
  default_branch: 'main',
} as const;

export const shaOf = (letter: string): string => letter.repeat(40);
/** Returns the time at the given number of seconds after the pull request's life begins. */
export const second = (seconds: number): string =>
  new Date(Date.UTC(2026, 10, 21, 9, 0, seconds)).toISOString();

export const pullUrl = (life: PullLife): string => `${life.repository.html_url}/pull/${life.number}`;

const pull = (life: PullLife, sha: string, seconds: number, more: object = {}) => ({
  number: life.number,
  html_url: pullUrl(life),
  title: life.title,
  body: life.body,
  head: { ref: life.branch, sha, repo: { id: life.headRepository ?? life.repository.id } },
  base: { ref: life.base, sha: shaOf('0'), repo: { id: life.repository.id } },
  merged: false,
  merge_commit_sha: null,
  mergeable_state: 'clean',
  created_at: second(1),
  updated_at: second(seconds),
  closed_at: null,
  merged_at: null,
  ...more,
});

export const pullEvent = (
  life: PullLife,
  action: string,
  sha: string,
  seconds: number,
  more: object = {},
) => ({
  event: 'pull_request',
  payload: { action, pull_request: pull(life, sha, seconds, more), repository: life.repository },
});
export const mergedEvent = (life: PullLife, sha: string, seconds: number) =>
  pullEvent(life, 'closed', sha, seconds, {
    ...{ merged: true, merge_commit_sha: shaOf('f') },
    ...{ merged_at: second(seconds), closed_at: second(seconds) },
  });
export const pushEvent = (life: PullLife, sha: string, seconds: number, message = 'Change') => ({
  event: 'push',
  payload: {
    ref: `refs/heads/${life.branch}`,
    after: sha,
    deleted: false,
    commits: [{ message, timestamp: second(seconds) }],
    head_commit: { message, timestamp: second(seconds) },
    repository: { ...life.repository, pushed_at: Math.floor(Date.parse(second(seconds)) / 1_000) },
  },
});
export const suiteEvent = (
  life: PullLife,
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
    check_suite: { id: app, head_sha: sha, conclusion, updated_at: second(seconds), app: { id: app } },
    repository: life.repository,
  },
});
export const reviewEvent = (
  life: PullLife,
  state: string,
  sha: string,
  seconds: number,
  user: number | null = null,
) => ({
  event: 'pull_request_review',
  payload: {
    action: state === 'dismissed' ? 'dismissed' : 'submitted',
    review: {
      ...{ state, commit_id: sha, submitted_at: second(seconds) },
      user: user === null ? null : { id: user },
    },
    pull_request: pull(life, sha, seconds),
    repository: life.repository,
  },
});

/**
 * Returns the deliveries of a pull request's life: pushed, opened, failed, pushed again, run again, approved,
 * merged.
 */
export const recordedLife = (life: PullLife, a: string, b: string): GithubEvent[] => [
  pushEvent(life, a, 1),
  pullEvent(life, 'opened', a, 2),
  suiteEvent(life, a, { app: 1, conclusion: 'failure', seconds: 3 }),
  pushEvent(life, b, 5),
  pullEvent(life, 'synchronize', b, 6),
  suiteEvent(life, b, { app: 1, conclusion: 'failure', seconds: 8 }),
  suiteEvent(life, b, { app: 2, conclusion: 'success', seconds: 9 }),
  suiteEvent(life, b, { app: 1, conclusion: 'success', seconds: 9 }),
  reviewEvent(life, 'approved', b, 10),
  mergedEvent(life, b, 12),
];
