/** What the API and the worker read of webhooks from their environment, alike. */
import { z } from 'zod';
import { parseNetworks } from '../../rules/webhook-addresses.ts';
import { type WebhooksSetUp } from './set-up.ts';

const shortestSeal = 16;

export const webhookVariables = {
  networks: z
    .string()
    .default('')
    .transform((text, context) => {
      try {
        return parseNetworks(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    }),
  seals: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((seal) => seal !== ''))
    .refine((seals) => seals.every((seal) => seal.length >= shortestSeal), {
      error: `must have at least ${shortestSeal} characters`,
    }),
  subjectUrl: z
    .string()
    .regex(/^https?:\/\//, 'must be an http(s) URL')
    .optional(),
};

interface Environment {
  readonly WEBHOOK_NETWORKS: WebhooksSetUp['networks'];
  readonly WEBHOOK_SEAL: WebhooksSetUp['seals'];
  readonly SUBJECT_URL?: WebhooksSetUp['subjectUrl'];
}

export const webhooksSetUpOf = (environment: Environment): WebhooksSetUp => ({
  networks: environment.WEBHOOK_NETWORKS,
  seals: environment.WEBHOOK_SEAL,
  subjectUrl: environment.SUBJECT_URL,
});
