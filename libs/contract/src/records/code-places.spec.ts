import { describe, expect, it } from '@jest/globals';
import { shortBranchName, canonicalPullUrl, parsePullUrl, repositoryAddress } from './code-places.ts';

const forges = [
  { kind: 'github', baseUrl: 'https://github.com' },
  { kind: 'gitlab', baseUrl: 'https://code.example/gitlab' },
  { kind: 'forgejo', baseUrl: 'http://git.example:3000' },
] as const;

describe('the address of a pull request', () => {
  it.each([
    'https://github.com/acme/web/pull/5',
    'http://www.GitHub.com/Acme/Web/pull/5/',
    'https://github.com/acme/web/pull/5/files?diff=split#discussion_r1',
    'https://github.com/acme/web/pull/5/commits/abcdef0',
    'https://github.com/acme/web/pull/5#issuecomment-1',
    'https://github.com:443/acme/web/pull/5',
    'http://me@github.com:80/acme/web/pull/5',
  ])('is the same for %s', (url) => {
    expect(canonicalPullUrl(forges, url, 5)).toBe('https://github.com/acme/web/pull/5');
    expect(parsePullUrl(url)).toEqual({ repository: 'github.com/acme/web', number: 5 });
  });

  it('has the form and the scheme of its forge', () => {
    const merge = 'https://code.example/gitlab/Group/Sub/app/-/merge_requests/3/diffs';
    const canonical = 'https://code.example/gitlab/group/sub/app/-/merge_requests/3';
    expect(canonicalPullUrl(forges, merge, 3)).toBe(canonical);
    expect(canonicalPullUrl(forges, merge.replace('/-', ''), null)).toBe(canonical);
    expect(canonicalPullUrl(forges, 'https://git.example:3000/a/pull/pulls/9/files', 9)).toBe(
      'http://git.example:3000/a/pull/pulls/9',
    );
  });

  it.each([
    ['https://api.github.com/repos/Acme/web/pulls/5', 'https://github.com/acme/web/pull/5'],
    ['https://api.github.com/repos/acme/web/pulls/5/files?page=2', 'https://github.com/acme/web/pull/5'],
    ['http://git.example:3000/api/v1/repos/a/b/pulls/5', 'http://git.example:3000/a/b/pulls/5'],
    [
      'https://code.example/gitlab/api/v4/projects/Group%2FSub%2fapp/merge_requests/5',
      'https://code.example/gitlab/group/sub/app/-/merge_requests/5',
    ],
  ])('is that of its page for %s of an API', (url, page) => {
    expect(canonicalPullUrl(forges, url, 5)).toBe(page);
    expect(parsePullUrl(url)?.number).toBe(5);
  });

  it.each([
    'https://api.github.com/repos/acme/web/issues/5',
    'https://api.github.com/repos/acme/web/pulls/6',
    'https://code.example/gitlab/api/v4/projects/5/merge_requests/5',
    'http://git.example:3000/api/v1/user',
    'https://github.com/acme/web',
    'https://github.com/acme/web/issues/5',
    'https://github.com/acme/web/tree/x',
    'https://github.com/acme/web/pull/6',
    'https://github.com/acme/web/-/merge_requests/5',
    'https://github.com/acme/pull/5',
  ])('is none in %s', (url) => {
    expect(canonicalPullUrl(forges, url, 5)).toBeNull();
  });

  it('stays as it is for a forge that is not connected', () => {
    for (const url of ['https://other.example/r/1', 'https://github.com.evil.example/a/b/pull/5'])
      expect(canonicalPullUrl(forges, url, 5)).toBe(url);
  });
});

it('is one repository by https, ssh and in either case', () => {
  for (const url of [
    'https://github.com/Acme/Website.git',
    'http://www.github.com/acme/website/',
    'ssh://git@github.com/acme/website.git',
    'git@github.com:acme/website.git',
  ])
    expect(repositoryAddress(url)).toBe('github.com/acme/website');
});

it('is one branch by all names that git has for it', () => {
  for (const name of ['x/y', 'refs/heads/x/y', 'refs/remotes/fork/x/y', 'remotes/origin/x/y', 'origin/x/y'])
    expect(shortBranchName(name)).toBe('x/y');
  for (const name of ['origin/', 'feature/origin/x', 'heads/x']) expect(shortBranchName(name)).toBe(name);
});
