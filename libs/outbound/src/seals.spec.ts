import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSecretCipher } from './seals.ts';

const [first = '', second = ''] = ['a', 'b'].map((letter) => letter.repeat(32));
const owner = { organizationKey: randomBytes(32), name: 'forge 1 credentials' };

describe('a sealed secret', () => {
  it('opens for its owner, and never looks the same twice', () => {
    const seals = createSecretCipher([first]);
    const sealed = seals.encrypt(owner, 'a token');
    expect(seals.decrypt(owner, sealed)).toBe('a token');
    expect(sealed.equals(seals.encrypt(owner, 'a token'))).toBe(false);
    expect(sealed.includes('a token')).toBe(false);
  });

  it('opens for no other owner, by no other key, and not where a bit of it changed', () => {
    const sealed = createSecretCipher([first]).encrypt(owner, 'a token');
    expect(
      createSecretCipher([first]).decrypt({ ...owner, name: 'forge 2 credentials' }, sealed),
    ).toBeUndefined();
    expect(
      createSecretCipher([first]).decrypt({ ...owner, organizationKey: randomBytes(32) }, sealed),
    ).toBeUndefined();
    expect(createSecretCipher([second]).decrypt(owner, sealed)).toBeUndefined();
    expect(createSecretCipher([]).decrypt(owner, sealed)).toBeUndefined();
    const changed = Buffer.from(sealed);
    changed[20] = (changed[20] ?? 0) ^ 1;
    expect(createSecretCipher([first]).decrypt(owner, changed)).toBeUndefined();
    for (const bytes of [0, 3, 28])
      expect(createSecretCipher([first]).decrypt(owner, Buffer.alloc(bytes))).toBeUndefined();
  });

  it('opens after another key was put before its own, and after a first key was named', () => {
    expect(
      createSecretCipher([second, first]).decrypt(owner, createSecretCipher([first]).encrypt(owner, 'old')),
    ).toBe('old');
    expect(createSecretCipher([first]).decrypt(owner, createSecretCipher([]).encrypt(owner, 'before'))).toBe(
      'before',
    );
  });
});
