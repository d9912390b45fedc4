import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSeals, newWebhookSecret } from '@muster/outbound';
import { secretOwner } from './webhook-secrets.ts';

const organizationKey = randomBytes(32);
const seals = createSeals(['a'.repeat(32)]);

describe('a secret', () => {
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
