/** The environment variables about webhooks, shared by the API and the worker. */
import { createSeals } from '@muster/outbound';
import { z } from 'zod';
import { type WebhooksSetUp } from './set-up.ts';

/** The URL template of pages about an event's subject. */
export const SubjectUrl = z
  .string()
  .regex(/^https?:\/\//, 'must be an http(s) URL')
  .optional();

interface Environment {
  readonly WEBHOOK_NETWORKS: WebhooksSetUp['networks'];
  readonly SECRETS_KEY: readonly string[];
  readonly SUBJECT_URL?: WebhooksSetUp['subjectUrl'];
}

export const webhooksSetUpOf = (environment: Environment): WebhooksSetUp => ({
  networks: environment.WEBHOOK_NETWORKS,
  seals: createSeals(environment.SECRETS_KEY),
  subjectUrl: environment.SUBJECT_URL,
});
