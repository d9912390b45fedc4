/** Web push to the devices of people who want it. */
import { ECDH } from 'node:crypto';
import { type Agent } from 'node:https';
import { WebPushSubscription } from '@muster/registry';
import { type Logger } from 'pino';
import webPush from 'web-push';
import { type z } from 'zod';
import { type Vapid } from './config.ts';

export interface Push {
  /** What the browser gave when the device was registered, as JSON. */
  readonly subscription: string;
  /** What its service worker gets. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export type PushOutcome =
  | 'sent'
  /** The device has gone: nothing can be pushed to it any more. */
  | 'gone'
  /** The push service will not take this one, however often it is sent. */
  | 'refused';

export interface Pusher {
  send(push: Push): Promise<PushOutcome>;
}

const timeoutMillis = 10_000;
/** Later than that a push is of no use. */
const liveSeconds = 24 * 60 * 60;

const goneStatus = new Set([404, 410]);

/** Of the 4xx those that say "not now". */
const laterStatus = new Set([408, 425, 429]);
/** The caller chose the address: what is refused there must not be tried, and given up, at the caller's wish. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && !laterStatus.has(status);

export interface PusherOptions {
  readonly vapid: Vapid;
  /** Hosts that may be pushed to, with the port where it is not that of https. */
  readonly hosts: readonly string[];
  readonly agent?: Agent;
  readonly logger?: Logger;
}

/** Whether the host is one of them; one that begins with a dot stands for all below it. */
export const isPushHost = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((allowed) => (allowed.startsWith('.') ? host.endsWith(allowed) : host === allowed));

/** At another port than that of https, or with a name, is no push service but where PUSH_HOSTS names it so. */
const isPushAddress = (endpoint: string, hosts: readonly string[]): boolean => {
  const { host, username, password } = new URL(endpoint);
  return isPushHost(host, hosts) && username === '' && password === '';
};

/** The device's own words, or nothing where they are none, or their key is no point of the curve. */
function subscriptionOf(text: string): z.infer<typeof WebPushSubscription> | undefined {
  try {
    const subscription = WebPushSubscription.parse(JSON.parse(text));
    ECDH.convertKey(Buffer.from(subscription.keys.p256dh, 'base64url'), 'prime256v1');
    return subscription;
  } catch {
    return undefined;
  }
}

export function createPusher({ vapid, hosts, agent, logger }: PusherOptions): Pusher {
  return {
    send: async ({ subscription: text, payload }) => {
      const subscription = subscriptionOf(text);
      // Trying again would not make it an address.
      if (subscription === undefined || !isPushAddress(subscription.endpoint, hosts)) return 'gone';
      try {
        await webPush.sendNotification(subscription, JSON.stringify(payload), {
          vapidDetails: vapid,
          TTL: liveSeconds,
          timeout: timeoutMillis,
          ...(agent !== undefined && { agent }),
        });
        return 'sent';
      } catch (error) {
        if (!(error instanceof webPush.WebPushError)) throw error;
        const { statusCode: status } = error;
        if (goneStatus.has(status)) return 'gone';
        if (!isFinal(status)) throw error;
        // Of all devices at once it is the keys of the installation; the device's address is a secret.
        logger?.warn({ status, host: new URL(subscription.endpoint).host }, 'a push was refused');
        return 'refused';
      }
    },
  };
}
