/** Owner of the sealed secret of a webhook. */
import { type SecretOwner } from '@muster/outbound';

export const secretOwner = (organizationKey: Buffer, webhookId: string): SecretOwner => ({
  organizationKey,
  name: `webhook ${webhookId}`,
});
