/** The installation's configuration of webhooks. */
import {
  createSecretCipher,
  type AllowedNetwork,
  urlRefusalReason,
  type SecretCipher,
} from '@muster/outbound';
import { badRequest } from '@muster/contract';
import { type LinkTemplate } from '../../rules/webhook-message.ts';

export interface WebhooksConfig {
  /** Networks other than the public ones that may contain receivers. */
  readonly networks: readonly AllowedNetwork[];
  readonly seals: SecretCipher;
  readonly subjectUrl: LinkTemplate;
  /** The URL of the console, for links in chat messages if there is no template. */
  readonly consoleUrl?: string | undefined;
}

/**
 * The default configuration: only receivers in public networks, no encryption key of the installation, and no links
 * to subjects in messages.
 */
export const defaultWebhooksConfig: WebhooksConfig = {
  networks: [],
  seals: createSecretCipher([]),
  subjectUrl: undefined,
};

/** Throws 400 if requests to this URL are not allowed. */
export function requireAllowedUrl({ networks }: WebhooksConfig, url: string): void {
  const message = urlRefusalReason(url, networks);
  if (message !== null)
    throw badRequest('Webhooks cannot be sent to this address.', [{ path: 'url', message }]);
}
