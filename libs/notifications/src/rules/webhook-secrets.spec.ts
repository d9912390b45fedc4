import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSecretCipher, newWebhookSecret } from '@muster/outbound';
import { webhookSecretOwner } from './webhook-secrets.ts';

const organizationKey = randomBytes(32);
const seals = createSecretCipher(['a'.repeat(32)]);

describe('a secret', () => {
  it('opens for its endpoint, for no other, and for no other organization', () => {
    const secret = newWebhookSecret();
    const sealed = seals.encrypt(webhookSecretOwner(organizationKey, 'one'), secret);
    expect(seals.decrypt(webhookSecretOwner(organizationKey, 'one'), sealed)).toBe(secret);
    expect(seals.decrypt(webhookSecretOwner(organizationKey, 'two'), sealed)).toBeUndefined();
    expect(seals.decrypt(webhookSecretOwner(randomBytes(32), 'one'), sealed)).toBeUndefined();
  });

  it('that is not there any more does not open', () => {
    expect(seals.decrypt(webhookSecretOwner(organizationKey, 'one'), Buffer.alloc(0))).toBeUndefined();
  });
});
