import { expect, it } from '@jest/globals';
import { newWebhookSecret } from './webhook-secret.ts';

it('is whsec_ and 32 random bytes, never the same', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  expect(new Set(secrets).size).toBe(2);
  for (const secret of secrets) expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
});
