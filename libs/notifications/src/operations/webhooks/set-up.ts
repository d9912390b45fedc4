/** The installation's configuration of webhooks. */
import { createSeals, type NamedNetwork, refusedUrl, type Seals } from '@muster/outbound';
import { badRequest } from '@muster/registry';
import { type LinkTemplate } from '../../rules/webhook-message.ts';

export interface WebhooksSetUp {
  /** Networks other than the public ones that may contain receivers. */
  readonly networks: readonly NamedNetwork[];
  readonly seals: Seals;
  readonly subjectUrl: LinkTemplate;
}

/** The default configuration: public networks only, no key of the installation, no links. */
export const usualWebhooks: WebhooksSetUp = {
  networks: [],
  seals: createSeals([]),
  subjectUrl: undefined,
};

/** Throws 400 if requests to this URL are not allowed. */
export function requireUrl({ networks }: WebhooksSetUp, url: string): void {
  const message = refusedUrl(url, networks);
  if (message !== null)
    throw badRequest('Webhooks cannot be sent to this address.', [{ path: 'url', message }]);
}
