/** What a receiver of webhooks is told: what happened, and the license as it is now. */
import { toRecord } from '../api/records.ts';
import { type License } from '../operators/license.ts';

export interface Happened {
  readonly kind: string;
  readonly actor: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** In the form that Standard Webhooks proposes; no key and no machine's id is in it. */
export const messageOf = ({ kind, actor, at, data }: Happened, license: License): string =>
  JSON.stringify({
    type: `license.${kind}`,
    timestamp: at,
    data: { license: toRecord(license), actor, details: data },
  });

export const testMessage = (at: Date): string =>
  JSON.stringify({ type: 'license.test', timestamp: at.toISOString(), data: {} });
