/** The environment variables about webhooks, shared by the API and the worker. */
import { createSecretCipher } from '@muster/outbound';
import { z } from 'zod';
import { consoleUrlOf } from '../../rules/console-links.ts';
import { type WebhooksConfig } from './set-up.ts';

/** The URL template of pages about an event's subject. */
export const SubjectUrl = z
  .string()
  .regex(/^https?:\/\//, 'must be an http(s) URL')
  .optional();

interface Environment {
  readonly WEBHOOK_NETWORKS: WebhooksConfig['networks'];
  readonly SECRETS_KEY: readonly string[];
  readonly SUBJECT_URL?: WebhooksConfig['subjectUrl'];
  readonly BASE_URL?: string | undefined;
}

export const toWebhooksConfig = (environment: Environment): WebhooksConfig => ({
  networks: environment.WEBHOOK_NETWORKS,
  seals: createSecretCipher(environment.SECRETS_KEY),
  subjectUrl: environment.SUBJECT_URL,
  consoleUrl: environment.BASE_URL && consoleUrlOf(environment.BASE_URL),
});
