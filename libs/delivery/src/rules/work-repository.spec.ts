import { describe, expect, it } from '@jest/globals';
import { matchRepository, type WorkRepository } from './work-repository.ts';

const web = { id: 'web', urls: ['https://github.com/acme/web', 'https://github.com/acme/old'] };
const api = { id: 'api', urls: ['https://github.com/acme/api'] };
const work = (known: Partial<WorkRepository>): WorkRepository => ({
  ...{ pull: null, observedPull: null, linkedRepositories: [], projectUrl: null },
  ...known,
});
const pullOf = (repository: string) => ({ url: `https://github.com/${repository}/pull/7` });
const match = (known: Partial<WorkRepository>, repository: string) =>
  matchRepository(work(known), `https://github.com/${repository}`);

describe('in a project with one linked repository', () => {
  it.each([
    ['acme/web', 'same'],
    ['Acme/Web.git', 'same'],
    ['acme/old', 'same'],
    ['acme/api', 'other'],
    ['other/web', 'other'],
  ])('work is matched for %s: %s', (repository, expected) => {
    expect(match({ linkedRepositories: [web] }, repository)).toBe(expected);
  });

  it('work that was submitted in another repository is never matched', () => {
    expect(match({ linkedRepositories: [web], pull: pullOf('acme/api') }, 'acme/web')).toBe('other');
    expect(match({ linkedRepositories: [web], pull: pullOf('acme/old') }, 'acme/web')).toBe('same');
  });
});

describe('in a project with several linked repositories', () => {
  const linked = [web, api];

  it('the repository of the work is unknown until its pull request or the forge shows it', () => {
    expect(match({ linkedRepositories: linked }, 'acme/web')).toBe('unknown');
    expect(match({ linkedRepositories: linked }, 'acme/tools')).toBe('other');
    expect(match({ linkedRepositories: linked, pull: pullOf('acme/api') }, 'acme/api')).toBe('same');
    expect(match({ linkedRepositories: linked, pull: pullOf('acme/api') }, 'acme/web')).toBe('other');
    const seen = { repositoryId: 'web', number: null };
    expect(match({ linkedRepositories: linked, observedPull: seen }, 'acme/web')).toBe('same');
    expect(match({ linkedRepositories: linked, observedPull: seen }, 'acme/api')).toBe('other');
  });

  it('a repository that received the former name of another is distinguished by the pull request', () => {
    const old = { id: 'next', urls: ['https://github.com/acme/old'] };
    const seen = { repositoryId: 'web', number: 7 };
    const known = { linkedRepositories: [web, old], pull: pullOf('acme/old') };
    expect(match({ ...known, observedPull: seen }, 'acme/web')).toBe('same');
    expect(match({ ...known, observedPull: seen }, 'acme/old')).toBe('other');
    expect(match(known, 'acme/old')).toBe('same');
  });

  it('the same repository at two connections is one repository', () => {
    expect(match({ linkedRepositories: [api, { ...api, id: 'again' }] }, 'acme/api')).toBe('same');
  });
});

describe('in a project without a linked repository', () => {
  it('the pull request decides, then the repository of the project; without both any one matches', () => {
    expect(match({}, 'acme/web')).toBe('same');
    const projectUrl = 'git@github.com:Acme/web.git';
    expect(match({ projectUrl }, 'acme/web')).toBe('same');
    expect(match({ projectUrl }, 'acme/api')).toBe('other');
    expect(match({ projectUrl, pull: pullOf('acme/api') }, 'acme/api')).toBe('same');
    expect(match({ pull: pullOf('acme/api') }, 'acme/web')).toBe('other');
    expect(match({ pull: { url: 'https://example.com/7' } }, 'acme/web')).toBe('same');
  });
});
