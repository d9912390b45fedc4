/**
 * Payloads as documented for GitLab (docs.gitlab.com/user/project/integrations/webhook_events), reduced to
 * the fields that are read.
 */
const project = {
  id: 1,
  name: 'Gitlab Test',
  web_url: 'http://example.com/gitlabhq/gitlab-test',
  path_with_namespace: 'gitlabhq/gitlab-test',
  default_branch: 'master',
};

const commit = {
  id: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
  message: 'fixed readme',
  timestamp: '2012-01-03T23:36:29+02:00',
};

export const gitlabMerge = (action: string, more: object = {}) => ({
  object_kind: 'merge_request',
  project,
  object_attributes: {
    id: 99,
    iid: 1,
    target_branch: 'master',
    source_branch: 'ms-viewport',
    source_project_id: 14,
    target_project_id: 1,
    title: 'MS-Viewport',
    description: '',
    state: 'opened',
    url: 'http://example.com/diaspora/merge_requests/1',
    created_at: '2013-12-03T17:23:34Z',
    updated_at: '2013-12-03 17:23:34 UTC',
    last_commit: commit,
    merge_commit_sha: null,
    detailed_merge_status: 'mergeable',
    action,
    ...more,
  },
});

export const gitlabPipeline = (status: string, attributes: object = {}, more: object = {}) => ({
  object_kind: 'pipeline',
  project,
  object_attributes: {
    id: 31,
    ref: 'topic',
    sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
    source: 'merge_request_event',
    status,
    created_at: '2016-08-12 15:23:28 UTC',
    finished_at: '2016-08-12 15:26:29 UTC',
    ...attributes,
  },
  ...more,
});

export const gitlabPush = (ref: string) => ({
  object_kind: 'push',
  ref,
  before: '95790bf891e76fee5e1747ab589903a6a1f80f22',
  after: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
  project,
  commits: [commit],
});
