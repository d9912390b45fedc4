import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newWebhookSecret, openSecret, sealSecret } from './webhook-secrets.ts';

const owner = { organizationKey: randomBytes(32), webhookId: 'one' };
const [first, second] = ['a seal of sixteen', 'another of sixteen'];

describe('a secret', () => {
  it('is whsec_ and 32 random bytes, never the same', () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    expect(new Set(secrets).size).toBe(2);
    for (const secret of secrets)
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  it('opens with the seal that it has, also where a newer one goes before that, and with no other', () => {
    const secret = newWebhookSecret();
    const sealed = sealSecret([first], owner, secret);
    expect(sealed.includes(Buffer.from(secret))).toBe(false);
    expect(openSecret([first], owner, sealed)).toBe(secret);
    expect(openSecret([second, first], owner, sealed)).toBe(secret);
    expect(openSecret([second], owner, sealed)).toBeUndefined();
    expect(openSecret([], owner, sealed)).toBeUndefined();
  });

  it('that was sealed before the installation had a seal opens still', () => {
    const secret = newWebhookSecret();
    expect(openSecret([first], owner, sealSecret([], owner, secret))).toBe(secret);
  });

  it('opens for no other endpoint and no other organization', () => {
    const sealed = sealSecret([first], owner, newWebhookSecret());
    expect(openSecret([first], { ...owner, webhookId: 'two' }, sealed)).toBeUndefined();
    expect(openSecret([first], { ...owner, organizationKey: randomBytes(32) }, sealed)).toBeUndefined();
  });

  it('that is not there any more does not open', () => {
    expect(openSecret([first], owner, Buffer.alloc(0))).toBeUndefined();
  });
});
