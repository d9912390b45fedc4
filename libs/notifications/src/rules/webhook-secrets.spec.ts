import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSecretCipher, newWebhookSecret } from '@muster/outbound';
import { webhookSecretOwner } from './webhook-secrets.ts';

const organizationKey = randomBytes(32);
const secretCipher = createSecretCipher(['a'.repeat(32)]);

describe('a secret', () => {
  it('opens for its endpoint, for no other, and for no other organization', () => {
    const secret = newWebhookSecret();
    const sealed = secretCipher.encrypt(webhookSecretOwner(organizationKey, 'one'), secret);
    expect(secretCipher.decrypt(webhookSecretOwner(organizationKey, 'one'), sealed)).toBe(secret);
    expect(secretCipher.decrypt(webhookSecretOwner(organizationKey, 'two'), sealed)).toBeUndefined();
    expect(secretCipher.decrypt(webhookSecretOwner(randomBytes(32), 'one'), sealed)).toBeUndefined();
  });

  it('that is not there any more does not open', () => {
    expect(secretCipher.decrypt(webhookSecretOwner(organizationKey, 'one'), Buffer.alloc(0))).toBeUndefined();
  });
});
