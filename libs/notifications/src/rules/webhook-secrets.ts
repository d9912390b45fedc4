/**
 * Names the owner of a webhook's encrypted secret. The owner is part of the encryption, so the secret cannot
 * be decrypted as that of another webhook.
 */
import { type SecretOwner } from '@muster/outbound';

export const webhookSecretOwner = (organizationKey: Buffer, webhookId: string): SecretOwner => ({
  organizationKey,
  name: `webhook ${webhookId}`,
});
