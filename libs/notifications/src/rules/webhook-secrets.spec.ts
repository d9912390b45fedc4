import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSeals } from '@muster/outbound';
import { newWebhookSecret, secretOwner } from './webhook-secrets.ts';

const organizationKey = randomBytes(32);
const seals = createSeals(['a'.repeat(32)]);

describe('a secret', () => {
  it('is whsec_ and 32 random bytes, never the same', () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    expect(new Set(secrets).size).toBe(2);
    for (const secret of secrets)
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  it('opens for its endpoint, for no other, and for no other organization', () => {
    const secret = newWebhookSecret();
    const sealed = seals.seal(secretOwner(organizationKey, 'one'), secret);
    expect(seals.open(secretOwner(organizationKey, 'one'), sealed)).toBe(secret);
    expect(seals.open(secretOwner(organizationKey, 'two'), sealed)).toBeUndefined();
    expect(seals.open(secretOwner(randomBytes(32), 'one'), sealed)).toBeUndefined();
  });

  it('that is not there any more does not open', () => {
    expect(seals.open(secretOwner(organizationKey, 'one'), Buffer.alloc(0))).toBeUndefined();
  });
});
