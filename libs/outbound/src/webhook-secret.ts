import { randomBytes } from 'node:crypto';

/** Creates a signing secret in the form of Standard Webhooks, with 32 random bytes. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
