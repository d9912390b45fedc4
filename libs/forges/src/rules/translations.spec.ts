/**
 * Each event of a forge is read, or ignored for a reason. GitHub's payloads are real deliveries, and the
 * others follow the documentation.
 */
import { describe, expect, it } from '@jest/globals';
import { type ForgeKind } from '@muster/contract';
import { githubEvents, ignoredEvents, expectedFacts, recordedDeliveries } from '@muster/testing/github';
import { giteaPull, giteaPush, giteaReview, giteaStatus, giteaRun } from '../../test/gitea-payloads.ts';
import { gitlabMerge, gitlabPipeline, gitlabPush } from '../../test/gitlab-payloads.ts';
import { toReviewDeliveries } from './asked-reviews.ts';
import { type DeliveryContent, splitWords } from './fact.ts';
import { pullActionByGithubAction } from './github.ts';
import { readDelivery, eventReadersByForge } from './translations.ts';

/** Summarizes a reading, such as `pr_updated merge_conflict`, `check failed`, `ignored`. */
function describeContent(reading: DeliveryContent): string {
  if ('ignored' in reading) return 'ignored';
  const checks = reading.checks.map(({ state }) => `check ${state}`);
  return [...reading.facts.map(({ kind }) => kind), ...checks].join(' ');
}

describe('deliveries that were recorded of GitHub', () => {
  it('are all in one of the lists: those that are read, and those that are ignored', () => {
    const keys = new Set(recordedDeliveries.map(({ key }) => key));
    const listed = [...Object.keys(expectedFacts), ...ignoredEvents];
    expect([...keys].filter((key) => !listed.includes(key))).toEqual([]);
    expect(Object.keys(expectedFacts).filter((key) => ignoredEvents.includes(key))).toEqual([]);
    expect(githubEvents.length).toBeGreaterThanOrEqual(58);
  });

  it.each(recordedDeliveries)('say what is known of them: $key ($index)', ({ event, payload, says }) => {
    const words = describeContent(readDelivery('github', event, payload));
    expect(says).toContain(words);
  });

  it('have no event and no action of a pull request that is not known by name', () => {
    expect(
      githubEvents.map(({ name }) => name).filter((name) => !(name in eventReadersByForge.github)),
    ).toEqual([]);
    const actions = recordedDeliveries.flatMap(({ event, payload }) =>
      event === 'pull_request' ? [payload.action ?? ''] : [],
    );
    expect(actions.filter((action) => !(action in pullActionByGithubAction))).toEqual([]);
  });
});

const describeEvent = (kind: ForgeKind, event: string, payload: unknown): string =>
  describeContent(readDelivery(kind, event, payload));

describe('deliveries of GitLab', () => {
  it.each([
    ['open', 'pr_opened'],
    ['update', 'pr_updated'],
    ['reopen', 'pr_reopened'],
    ['close', 'pr_closed'],
    ['merge', 'pr_merged'],
    ['approved', 'review_approved'],
    ['approval', 'review_approved'],
    ['unapproved', 'ignored'],
    ['unapproval', 'ignored'],
  ])('say what became of a merge request: %s', (action, kind) => {
    expect(describeEvent('gitlab', 'Merge Request Hook', gitlabMerge(action))).toBe(kind);
  });

  it('say all by which the work is found', () => {
    const reading = readDelivery('gitlab', 'Merge Request Hook', gitlabMerge('merge'));
    expect(reading).toMatchObject({
      repository: {
        externalId: '1',
        url: 'http://example.com/gitlabhq/gitlab-test',
        defaultBranch: 'master',
      },
      facts: [
        {
          ...{ kind: 'pr_merged', branch: 'ms-viewport', base: 'master', number: 1 },
          ...{ at: '2013-12-03T17:23:34.000Z', url: 'http://example.com/diaspora/merge_requests/1' },
          isForeign: true,
        },
      ],
    });
  });

  it.each(['closed', 'merged'])('say nothing of one that is %s where it is edited', (state) => {
    expect(describeEvent('gitlab', 'Merge Request Hook', gitlabMerge('update', { state }))).toBe('ignored');
  });

  it('say that a merge request conflicts with its target', () => {
    const conflict = gitlabMerge('update', { detailed_merge_status: 'conflict' });
    expect(describeEvent('gitlab', 'Merge Request Hook', conflict)).toBe('pr_updated merge_conflict');
  });

  it.each([
    ['success', 'check passed'],
    ['skipped', 'check passed'],
    ['failed', 'check failed'],
    ['canceled', 'check failed'],
    ['running', 'check pending'],
    ['manual', 'check pending'],
    ['of tomorrow', 'ignored'],
  ])('say what became of a pipeline: %s', (status, check) => {
    expect(describeEvent('gitlab', 'Pipeline Hook', gitlabPipeline(status))).toBe(check);
  });

  const request = { iid: 3, source_branch: 'topic', target_project_id: 1 };
  const pipelineOf = (attributes: object, more: object) => {
    const reading = readDelivery('gitlab', 'Pipeline Hook', gitlabPipeline('failed', attributes, more));
    return 'ignored' in reading ? undefined : reading.checks[0];
  };
  const [trial, head, base] = ['f', 'a', 'b'].map((letter) => letter.repeat(40));
  it.each([
    ['of a branch', {}, {}, { sha: trial }],
    ['of a trial merge', {}, { merge_request: request }, { sha: trial, trialOf: 3 }],
    ['of a trial merge by its ref', { ref: 'refs/merge-requests/3/merge' }, {}, { sha: trial, trialOf: 3 }],
    ['of a merge train', { ref: 'refs/merge-requests/3/train' }, {}, { sha: trial, trialOf: 3 }],
    ['of a head', { ref: 'refs/merge-requests/3/head' }, { merge_request: request }, { sha: trial }],
    ['of a commit', {}, { merge_request: request, commit: { message: 'Land' } }, { sha: trial }],
    [
      'of a trial merge that names its head',
      {},
      { merge_request: request, commit: { message: `Merge ${head} into ${base}` } },
      { sha: head },
    ],
    ['of a fork', {}, { merge_request: { ...request, target_project_id: 2 } }, { sha: trial }],
  ])('say what commit a pipeline is about: %s', (_which, attributes, more, commit) => {
    const { sha, trialOf } = pipelineOf({ sha: trial, ...attributes }, more) ?? {};
    expect({ sha, ...(trialOf !== undefined && { trialOf }) }).toEqual(commit);
  });

  it('tell pipelines apart, and which of them are repeated', () => {
    const name = (attributes: object, more = {}) => pipelineOf(attributes, more)?.name;
    const child = { source: 'parent_pipeline' };
    expect([
      name({ id: 1, source: 'push' }),
      name({ id: 2 }, { merge_request: request }),
      name({ id: 3, ...child }, { source_pipeline: { pipeline_id: 1 } }),
      name({ id: 4, ...child }),
    ]).toEqual(['pipeline:1:push:topic', 'pipeline:2:merge_request:3', 'child:1:3', 'child::4']);
    expect(name({ tag: true })).toBeUndefined();
  });

  it('say what was pushed, but not to where the work goes', () => {
    expect(describeEvent('gitlab', 'Push Hook', gitlabPush('refs/heads/topic'))).toBe('branch_pushed');
    expect(describeEvent('gitlab', 'Push Hook', gitlabPush('refs/heads/master'))).toBe('ignored');
    expect(describeEvent('gitlab', 'Push Hook', gitlabPush('refs/tags/v1'))).toBe('ignored');
  });
});

it.each(['github', 'gitea', 'forgejo'] as const)(
  'says of a pull request of %s that is closed, and edited then, that it is closed',
  (kind) => {
    const closedAt = { state: 'closed', closed_at: '2026-11-21T08:30:00Z' };
    const closed = readDelivery(kind, 'pull_request', giteaPull('closed', closedAt));
    expect(readDelivery(kind, 'pull_request', giteaPull('edited', closedAt))).toEqual(closed);
    expect(closed).toMatchObject({ facts: [{ kind: 'pr_closed', at: '2026-11-21T08:30:00.000Z' }] });
  },
);

describe.each(['gitea', 'forgejo'] as const)('deliveries of %s', (kind) => {
  it.each([
    ['opened', 'pr_opened'],
    ['synchronized', 'pr_updated'],
    ['edited', 'pr_updated'],
    ['reopened', 'pr_reopened'],
    ['closed', 'pr_closed'],
    ['label_updated', 'ignored'],
  ])('say what became of a pull request: %s', (action, word) => {
    expect(describeEvent(kind, 'pull_request', giteaPull(action))).toBe(word);
    expect(describeEvent(kind, 'pull_request_sync', giteaPull(action))).toBe(word);
  });

  it('say that it was merged', () => {
    const merged = { merged: true, merge_commit_sha: 'f'.repeat(40), merged_at: '2026-11-21T10:00:00+01:00' };
    expect(readDelivery(kind, 'pull_request', giteaPull('closed', merged))).toMatchObject({
      facts: [{ kind: 'pr_merged', at: '2026-11-21T09:00:00.000Z', sha: 'f'.repeat(40), isForeign: false }],
    });
  });

  it.each(splitWords('approved review_approved rejected review_rejected'))(
    'say that there is a review, and not whose reviews count: pull_request_%s',
    (event) => {
      const said = readDelivery(kind, `pull_request_${event}`, {
        ...giteaPull('reviewed'),
        ...{ review: { type: `pull_request_${event}`, content: 'No.' }, sender: { id: 5 }, commit_id: '' },
      });
      expect(said).toMatchObject({ facts: [], checks: [], reviewsOfPullNumber: 7 });
    },
  );

  it('say what was pushed, and what became of checks', () => {
    expect(describeEvent(kind, 'push', giteaPush('refs/heads/topic'))).toBe('branch_pushed');
    expect(describeEvent(kind, 'push', giteaPush('refs/heads/main'))).toBe('ignored');
    for (const [state, word] of [
      ['success', 'passed'],
      ['failure', 'failed'],
      ['error', 'failed'],
      ['pending', 'pending'],
    ])
      expect(describeEvent(kind, 'status', giteaStatus(state ?? ''))).toBe(`check ${word}`);
    expect(describeEvent(kind, 'workflow_run', giteaRun('completed', 'success'))).toBe('check passed');
    expect(describeEvent(kind, 'workflow_run', giteaRun('completed', 'failure'))).toBe('check failed');
    expect(describeEvent(kind, 'workflow_run', giteaRun('in_progress', null))).toBe('check pending');
    expect(readDelivery(kind, 'workflow_run', giteaRun('in_progress', null))).toMatchObject({
      checks: [{ at: '2026-11-21T09:00:00.000Z' }],
    });
  });
});

it('reads the system hooks of GitLab as its other hooks, and says of what others tell', () => {
  const { project, ...push } = gitlabPush('refs/heads/topic');
  const { id, ...bare } = project;
  const system = (payload: object) => readDelivery('gitlab', 'System Hook', payload);
  expect(system(gitlabMerge('merge'))).toEqual(
    readDelivery('gitlab', 'Merge Request Hook', gitlabMerge('merge')),
  );
  expect(
    describeContent(
      system({ ...push, object_kind: undefined, event_name: 'push', project_id: id, project: bare }),
    ),
  ).toBe('branch_pushed');
  expect(system({ event_name: 'user_create' })).toEqual({
    ignored: 'an unsupported system hook: user_create',
  });
});

it.each([
  ['OWNER', 'review_approved'],
  ['MEMBER', 'review_approved'],
  ['COLLABORATOR', 'review_approved'],
  ['CONTRIBUTOR', 'ignored'],
  ['FIRST_TIME_CONTRIBUTOR', 'ignored'],
  ['NONE', 'ignored'],
])('counts reviews at GitHub of those who may write: %s', (association, word) => {
  const review = { state: 'approved', submitted_at: '2026-11-21T09:00:00Z', author_association: association };
  expect(describeEvent('github', 'pull_request_review', { ...giteaPull('submitted'), review })).toBe(word);
});

it('reads who reviewed at GitHub, and dates a dismissal back to the review that it takes back', () => {
  const review = { submitted_at: '2026-11-21T09:00:00Z', commit_id: 'a'.repeat(40), user: { id: 583_231 } };
  const fact = { at: '2026-11-21T09:00:00.000Z', sha: 'a'.repeat(40), reviewer: '583231' };
  for (const [action, state, kind] of [
    ['submitted', 'changes_requested', 'changes_requested'],
    ['dismissed', 'dismissed', 'review_dismissed'],
  ] as const)
    expect(
      readDelivery('github', 'pull_request_review', { ...giteaPull(action), review: { ...review, state } }),
    ).toMatchObject({ facts: [{ ...fact, kind }] });
});

it('reads who reviewed at GitLab, and the states of reviewers that changed', () => {
  const merge = (action: string, more: object) =>
    readDelivery('gitlab', 'Merge Request Hook', { ...gitlabMerge(action), ...more });
  for (const action of ['approved', 'approval'])
    expect(merge(action, { user: { id: 6 } })).toMatchObject({
      facts: [{ kind: 'review_approved', reviewer: '6' }],
    });
  const states = (...reviewers: string[]) => reviewers.map((state, index) => ({ id: index + 1, state }));
  const changes = {
    reviewers: {
      previous: states('unreviewed', 'requested_changes', 'requested_changes', 'reviewed', 'approved'),
      current: [
        ...states('requested_changes', 'approved', 'unreviewed', 'review_started', 'approved'),
        { id: 9, state: 'unreviewed' },
      ],
    },
  };
  expect(merge('update', { changes })).toMatchObject({
    facts: [
      { kind: 'pr_updated', reviewer: null },
      { kind: 'changes_requested', reviewer: '1' },
      { kind: 'review_approved', reviewer: '2' },
      { kind: 'review_dismissed', reviewer: '3' },
    ],
  });
});

it('counts the official reviews that Gitea answers with, and dates a dismissal back to its review', () => {
  const review = giteaReview(12, 'REQUEST_CHANGES');
  const fact = { at: '2026-11-21T09:10:00.000Z', sha: review.commit_id, reviewer: '5' };
  for (const [more, word] of [
    [{}, 'changes_requested'],
    [{ state: 'APPROVED' }, 'review_approved'],
    [{ dismissed: true }, 'review_dismissed'],
    [{ official: false }, undefined],
    [{ state: 'COMMENT' }, undefined],
  ] as const) {
    const asked = toReviewDeliveries([{ ...review, ...more }], giteaPull('edited'));
    const readings = asked.map(({ event, payload }) => readDelivery('gitea', event, payload));
    expect(readings).toMatchObject(word === undefined ? [] : [{ facts: [{ ...fact, kind: word }] }]);
  }
});

it('says what became of a run of Forgejo', () => {
  const run = (status: string, more: object = {}) => ({
    ...{
      id: 90,
      index_in_repo: 12,
      workflow_id: 'ci.yml',
      event: 'push',
      commit_sha: 'a'.repeat(40),
      status,
    },
    ...{ started: '2026-11-21T09:00:00Z', stopped: '2026-11-21T09:05:00Z', updated: '2026-11-21T09:05:01Z' },
    ...{ repository: { id: 1, html_url: 'https://git.example.com/acme/api', full_name: 'acme/api' } },
    ...more,
  });
  const word = (event: string, status: string) =>
    describeEvent('forgejo', event, { action: 'failure', run: run(status), prior_status: 'running' });
  expect(word('action_run_failure', 'failure')).toBe('check failed');
  expect(word('action_run_failure', 'cancelled')).toBe('check failed');
  expect(word('action_run_success', 'success')).toBe('check passed');
  expect(word('action_run_recover', 'success')).toBe('check passed');
  expect(word('action_run', 'running')).toBe('check pending');
  expect(word('action_run', 'unknown')).toBe('ignored');
  expect(readDelivery('forgejo', 'action_run_success', { run: run('success') })).toMatchObject({
    checks: [{ name: 'run:12/:push:ci.yml', sha: 'a'.repeat(40), at: '2026-11-21T09:05:01.000Z' }],
  });
});

it('reads the suite of an app that was deleted', () => {
  const suite = {
    id: 7,
    head_sha: 'a'.repeat(40),
    conclusion: 'failure',
    updated_at: '2026-11-21T09:00:00Z',
  };
  const { repository } = giteaPush('refs/heads/topic');
  const payload = { action: 'completed', check_suite: { ...suite, app: null }, repository };
  expect(readDelivery('github', 'check_suite', payload)).toMatchObject({
    checks: [{ name: 'suite::7', state: 'failed' }],
  });
});

it('ignores an event that a forge did not have when this was written', () => {
  for (const kind of ['github', 'gitlab', 'gitea', 'forgejo'] as const) {
    expect(readDelivery(kind, 'of_tomorrow', {})).toEqual({ ignored: 'unknown event' });
    expect(readDelivery(kind, 'constructor', {})).toEqual({ ignored: 'unknown event' });
  }
});
