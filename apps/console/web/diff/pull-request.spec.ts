import { expect, it } from '@jest/globals';
import { type Git } from '@muster/contract';
import { forgeNameOf, pullRequestOf } from './pull-request.ts';

const git = (change: Partial<Git>): Git => ({
  ...{ branch: null, baseBranch: null, headSha: null, diffHash: null, pullRequest: null, checks: null },
  ...change,
});
const url = 'https://github.com/acme/web/pull/7';
const opened = git({ pullRequest: { number: 7, url, state: 'open', title: null }, checks: 'passing' });

it('finds the pull request of the story, otherwise that of the work', () => {
  expect(pullRequestOf(git({}), null)).toBeNull();
  expect(pullRequestOf(opened, null)).toEqual({ number: 7, url, isMergeable: true });
  expect(pullRequestOf(null, { git: opened, pullRequest: null })).toEqual({
    number: 7,
    url,
    isMergeable: true,
  });
  expect(pullRequestOf(null, { git: null, pullRequest: { number: 7, url } })).toEqual({
    ...{ number: 7, url, isMergeable: false },
  });
});

it('takes it for mergeable only while it is open and its checks have passed', () => {
  for (const state of ['draft', 'merged', 'closed'])
    expect(
      pullRequestOf({ ...opened, pullRequest: { number: 7, url, state, title: null } }, null)?.isMergeable,
    ).toBe(false);
  for (const checks of ['pending', 'failing', null])
    expect(pullRequestOf({ ...opened, checks }, null)?.isMergeable).toBe(false);
});

it('names the forge by the address of the pull request', () => {
  const addresses = [
    url,
    'https://code.acme.example/web/-/merge_requests/7',
    'https://git.acme.example/web/pulls/7',
  ];
  expect(addresses.map(forgeNameOf)).toEqual(['GitHub', 'GitLab', null]);
});
