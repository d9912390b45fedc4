import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createGitRunner } from '../git.ts';
import { findForge, parseRemote } from './remote.ts';

describe('the address of a remote', () => {
  it.each([
    ['https://github.com/acme/web.git', 'https://github.com', 'acme/web'],
    ['https://user:secret@github.com/acme/web', 'https://github.com', 'acme/web'],
    ['http://127.0.0.1:3000/acme/web.git/', 'http://127.0.0.1:3000', 'acme/web'],
    ['git@github.com:acme/web.git', 'https://github.com', 'acme/web'],
    ['gitlab.com:acme/team/web.git', 'https://gitlab.com', 'acme/team/web'],
    ['ssh://git@ssh.github.com:443/acme/web.git', 'https://github.com', 'acme/web'],
    ['git@altssh.gitlab.com:acme/web.git', 'https://gitlab.com', 'acme/web'],
    ['ssh://git@code.acme.example:2222/acme/web.git', 'https://code.acme.example', 'acme/web'],
  ])('is read: %s', (remote, baseUrl, fullName) => {
    expect(parseRemote(remote)).toEqual({ baseUrl, fullName });
  });

  it.each(['/srv/git/web.git', '../web.git', 'file:///srv/git/web.git', 'https://github.com/', 'gh:', ''])(
    'is none of a forge: %j',
    (remote) => {
      expect(parseRemote(remote)).toBeUndefined();
    },
  );
});

it('is at GitHub also where GitHub runs it for one customer', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-remote-'));
  try {
    const git = createGitRunner({ folder });
    await git(['init', '--quiet']);
    await git(['remote', 'add', 'origin', 'git@acme.ghe.com:acme/web.git']);
    const repository = {
      checkoutFolder: folder,
      gitDir: path.join(folder, '.git'),
      commonDir: path.join(folder, '.git'),
      remote: 'origin',
      git,
    };
    expect(await findForge(repository, undefined)).toEqual({
      ...{ kind: 'github', baseUrl: 'https://acme.ghe.com', fullName: 'acme/web' },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
