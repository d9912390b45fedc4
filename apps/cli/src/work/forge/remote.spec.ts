import { describe, expect, it } from '@jest/globals';
import { parseRemote } from './remote.ts';

describe('the address of a remote', () => {
  it.each([
    ['https://github.com/acme/web.git', 'https://github.com', 'acme/web'],
    ['https://user:secret@github.com/acme/web', 'https://github.com', 'acme/web'],
    ['http://127.0.0.1:3000/acme/web.git/', 'http://127.0.0.1:3000', 'acme/web'],
    ['git@github.com:acme/web.git', 'https://github.com', 'acme/web'],
    ['gitlab.com:acme/team/web.git', 'https://gitlab.com', 'acme/team/web'],
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
