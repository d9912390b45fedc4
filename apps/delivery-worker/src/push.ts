/** Sends web push messages to members' devices. */
import { ECDH } from 'node:crypto';
import { type Agent } from 'node:https';
import { WebPushSubscription } from '@muster/contract';
import { isTransientFailure } from '@muster/outbound/chat';
import { type Logger } from 'pino';
import webPush from 'web-push';
import { type z } from 'zod';
import { type Vapid } from './config.ts';

export interface PushMessage {
  /** The browser's push subscription as JSON, from the device's registration. */
  readonly subscription: string;
  /** The data for the browser's service worker. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export type PushOutcome =
  | 'sent'
  /** The subscription no longer exists. */
  | 'gone'
  /** The push service rejects this message permanently. */
  | 'refused';

export interface Pusher {
  send(push: PushMessage): Promise<PushOutcome>;
}

const pushTimeoutMillis = 10_000;
/** Lifetime of a message at the push service; later it would be useless. */
const messageLifetimeSeconds = 24 * 60 * 60;

const goneStatuses = new Set([404, 410]);

export interface PusherOptions {
  readonly vapid: Vapid;
  /** Allowed push hosts, with the port if it is not the default port of https. */
  readonly hosts: readonly string[];
  readonly agent?: Agent;
  readonly logger?: Logger;
}

/** Returns true if the host is allowed. An entry that begins with a dot includes all of its subdomains. */
export const isPushHost = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((allowed) => (allowed.startsWith('.') ? host.endsWith(allowed) : host === allowed));

/**
 * Returns true if the URL is an allowed push service. It must have no user info, and another port only if
 * PUSH_HOSTS names it.
 */
const isPushAddress = (endpoint: string, hosts: readonly string[]): boolean => {
  const { host, username, password } = new URL(endpoint);
  return isPushHost(host, hosts) && username === '' && password === '';
};

/** Parses the subscription; undefined if it is malformed or its key is not a point on the curve. */
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
      // A retry would not make the subscription valid.
      if (subscription === undefined || !isPushAddress(subscription.endpoint, hosts)) return 'gone';
      try {
        await webPush.sendNotification(subscription, JSON.stringify(payload), {
          vapidDetails: vapid,
          TTL: messageLifetimeSeconds,
          timeout: pushTimeoutMillis,
          ...(agent !== undefined && { agent }),
        });
        return 'sent';
      } catch (error) {
        if (!(error instanceof webPush.WebPushError)) throw error;
        const { statusCode: status } = error;
        if (goneStatuses.has(status)) return 'gone';
        // The device's owner chose the URL, so a permanent rejection must not cause retries and dead jobs.
        if (isTransientFailure(status)) throw error;
        // If this concerns all devices, the installation's keys are wrong. Log only the host, because the
        // device's URL is a secret.
        logger?.warn({ status, host: new URL(subscription.endpoint).host }, 'a push was refused');
        return 'refused';
      }
    },
  };
}
