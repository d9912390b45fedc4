import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSeals } from './seals.ts';

const [first = '', second = ''] = ['a', 'b'].map((letter) => letter.repeat(32));
const owner = { organizationKey: randomBytes(32), name: 'forge 1 credentials' };

describe('a sealed secret', () => {
  it('opens for its owner, and never looks the same twice', () => {
    const seals = createSeals([first]);
    const sealed = seals.seal(owner, 'a token');
    expect(seals.open(owner, sealed)).toBe('a token');
    expect(sealed.equals(seals.seal(owner, 'a token'))).toBe(false);
    expect(sealed.includes('a token')).toBe(false);
  });

  it('opens for no other owner, by no other key, and not where a bit of it changed', () => {
    const sealed = createSeals([first]).seal(owner, 'a token');
    expect(createSeals([first]).open({ ...owner, name: 'forge 2 credentials' }, sealed)).toBeUndefined();
    expect(createSeals([first]).open({ ...owner, organizationKey: randomBytes(32) }, sealed)).toBeUndefined();
    expect(createSeals([second]).open(owner, sealed)).toBeUndefined();
    expect(createSeals([]).open(owner, sealed)).toBeUndefined();
    const changed = Buffer.from(sealed);
    changed[20] = (changed[20] ?? 0) ^ 1;
    expect(createSeals([first]).open(owner, changed)).toBeUndefined();
    for (const bytes of [0, 3, 28])
      expect(createSeals([first]).open(owner, Buffer.alloc(bytes))).toBeUndefined();
  });

  it('opens after another key was put before its own, and after a first key was named', () => {
    expect(createSeals([second, first]).open(owner, createSeals([first]).seal(owner, 'old'))).toBe('old');
    expect(createSeals([first]).open(owner, createSeals([]).seal(owner, 'before'))).toBe('before');
  });
});
