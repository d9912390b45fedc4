/** Answers the owner of a webhook's encrypted secret. */
import { type SecretOwner } from '@muster/outbound';

export const secretOwner = (organizationKey: Buffer, webhookId: string): SecretOwner => ({
  organizationKey,
  name: `webhook ${webhookId}`,
});
