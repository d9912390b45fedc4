/** What the installation says of webhooks. */
import { createSeals, type NamedNetwork, refusedUrl, type Seals } from '@muster/outbound';
import { badRequest } from '@muster/registry';
import { type LinkTemplate } from '../../rules/webhook-message.ts';

export interface WebhooksSetUp {
  /** Networks besides the public ones that may be sent to. */
  readonly networks: readonly NamedNetwork[];
  readonly seals: Seals;
  readonly subjectUrl: LinkTemplate;
}

/** Public networks alone, no key of the installation, no links. */
export const usualWebhooks: WebhooksSetUp = {
  networks: [],
  seals: createSeals([]),
  subjectUrl: undefined,
};

/** 400 where the address is none that may be sent to. */
export function requireUrl({ networks }: WebhooksSetUp, url: string): void {
  const message = refusedUrl(url, networks);
  if (message !== null) throw badRequest('Nothing is sent to this address.', [{ path: 'url', message }]);
}
