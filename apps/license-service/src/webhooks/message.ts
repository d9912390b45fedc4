/** The body of a webhook: the event and the current license. */
import { toLicenseRecord } from '../api/records.ts';
import { type License } from '../operators/license.ts';

export interface LicenseMessage {
  readonly kind: string;
  readonly actor: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Builds the body in the form of Standard Webhooks. It contains no key and no machine ID. */
export const webhookBodyOf = ({ kind, actor, at, data }: LicenseMessage, license: License): string =>
  JSON.stringify({
    type: `license.${kind}`,
    timestamp: at,
    data: { license: toLicenseRecord(license), actor, details: data },
  });

export const testWebhookBody = (sentAt: Date): string =>
  JSON.stringify({ type: 'license.test', timestamp: sentAt.toISOString(), data: {} });
