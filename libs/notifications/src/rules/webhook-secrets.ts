/** The secrets that sign messages, and whose they are where they lie sealed. */
import { randomBytes } from 'node:crypto';
import { type SecretOwner } from '@muster/outbound';

const secretBytes = 32;
const prefix = 'whsec_';

export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64');

export const secretOwner = (organizationKey: Buffer, webhookId: string): SecretOwner => ({
  organizationKey,
  name: `webhook ${webhookId}`,
});
