/**
 * Payloads as documented for Gitea (docs.gitea.com/usage/webhooks), with field names from its hook structs.
 * Forgejo sends the same payloads.
 */
const repository = {
  id: 140,
  html_url: 'https://git.example.com/acme/api',
  full_name: 'acme/api',
  default_branch: 'main',
};
const sha = 'bffeb74224043ba2feb48d137756c8a9331c449a';

export const giteaPull = (action: string, more: object = {}) => ({
  action,
  number: 7,
  pull_request: {
    id: 3,
    number: 7,
    html_url: 'https://git.example.com/acme/api/pulls/7',
    title: 'Land it',
    body: '',
    state: 'open',
    merged: false,
    merged_at: null,
    merge_commit_sha: null,
    head: { ref: 'topic', sha, repo_id: 140 },
    base: { ref: 'main', sha, repo_id: 140 },
    created_at: '2026-11-21T08:00:00Z',
    updated_at: '2026-11-21T09:00:00Z',
    closed_at: null,
    ...more,
  },
  repository,
});

/** Creates a review as Gitea's API returns it. In Gitea's webhooks, a review contains only a type and a text. */
export const giteaReview = (id: number, state: string, more: object = {}) => ({
  id,
  user: { id: 5, login: 'ben', email: '' },
  team: null,
  state,
  body: 'No.',
  commit_id: sha,
  stale: false,
  official: true,
  dismissed: false,
  comments_count: 0,
  submitted_at: '2026-11-21T10:10:00+01:00',
  html_url: 'https://git.example.com/acme/api/pulls/7#issuecomment-12',
  pull_request_url: 'https://git.example.com/acme/api/pulls/7',
  ...more,
});

export const giteaPush = (ref: string) => ({
  ref,
  before: '28e1879d029cb852e4844d9c718537df08844e03',
  after: sha,
  commits: [{ id: sha, message: 'Webhooks Yay!', timestamp: '2017-03-13T13:52:11-04:00' }],
  head_commit: { id: sha, message: 'Webhooks Yay!', timestamp: '2017-03-13T13:52:11-04:00' },
  repository,
});

export const giteaStatus = (state: string) => ({
  sha,
  state,
  context: 'ci/build',
  created_at: '2026-11-21T09:00:00Z',
  updated_at: null,
  repository,
});

export const giteaRun = (status: string, conclusion: string | null) => ({
  action: status,
  workflow_run: {
    head_sha: sha,
    path: 'ci.yaml@refs/heads/topic',
    status,
    conclusion,
    started_at: '2026-11-21T09:00:00Z',
    completed_at: status === 'completed' ? '2026-11-21T09:05:00Z' : '1970-01-01T00:00:00Z',
  },
  repository,
});
