/** Web push to the devices of people who want it. */
import { type Agent } from 'node:https';
import webPush from 'web-push';
import { z } from 'zod';
import { type Vapid } from './config.ts';

export interface Push {
  /** What the browser gave when the device was registered, as JSON. */
  readonly subscription: string;
  /** What its service worker gets. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The device has gone: nothing can be pushed to it any more. */
export type PushOutcome = 'sent' | 'gone';

export interface Pusher {
  send(push: Push): Promise<PushOutcome>;
}

const Subscription = z.object({
  endpoint: z.url({ protocol: /^https$/ }),
  keys: z.object({ p256dh: z.string(), auth: z.string() }),
});

const timeoutMillis = 10_000;
/** Later than that nobody needs to be told. */
const liveSeconds = 24 * 60 * 60;

const goneStatus = new Set([404, 410]);

export interface PusherOptions {
  readonly vapid: Vapid;
  /** Hosts that may be pushed to. */
  readonly hosts: readonly string[];
  readonly agent?: Agent;
}

/** Whether the host is one of them; one that begins with a dot stands for all below it. */
export const isPushHost = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((allowed) => (allowed.startsWith('.') ? host.endsWith(allowed) : host === allowed));

/** The device's own words, or nothing where they are none. */
function subscriptionOf(text: string): z.infer<typeof Subscription> | undefined {
  try {
    return Subscription.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function createPusher({ vapid, hosts, agent }: PusherOptions): Pusher {
  return {
    send: async ({ subscription: text, payload }) => {
      const subscription = subscriptionOf(text);
      // Trying again would not make it an address.
      if (subscription === undefined || !isPushHost(new URL(subscription.endpoint).hostname, hosts))
        return 'gone';
      try {
        await webPush.sendNotification(subscription, JSON.stringify(payload), {
          vapidDetails: vapid,
          TTL: liveSeconds,
          timeout: timeoutMillis,
          ...(agent !== undefined && { agent }),
        });
        return 'sent';
      } catch (error) {
        if (error instanceof webPush.WebPushError && goneStatus.has(error.statusCode)) return 'gone';
        throw error;
      }
    },
  };
}
