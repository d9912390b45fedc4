/** Finds due webhook endpoints that no worker owns, and sends their messages. */
import { type Pool } from '@muster/driver';
import { type NextTurn } from '@muster/http';
import {
  dueWebhooksQuery,
  acquireWebhook,
  isDelivered,
  skipUnsubscribedEvents,
  runDeliveryRound,
  type SentMessage,
  type TurnResponse,
  type TurnConfig,
} from '@muster/notifications';
import { sendEndpointMessages } from './drive.ts';
import { type Sender } from '@muster/outbound/sender';
import { acrossOrganizations, inOrganizationAsSystem } from '@muster/tenancy';
import { attemptMessage } from './send.ts';

/** Maximum number of endpoints at once. Each has up to 8 concurrent requests. */
const maxEndpoints = 64;
/** Maximum number of concurrent database transactions for webhooks, so that jobs still get connections. */
const maxConcurrentTurns = 2;
/** Time slice after which an endpoint with more messages is released for others. */
const timeSliceMillis = 60_000;

export interface RunnerOptions {
  readonly pool: Pool;
  readonly sender: Sender;
  readonly turnConfig: TurnConfig;
  readonly onAttempt: (orgId: string, webhookId: string, sent: SentMessage) => void;
  readonly onFault: (error: unknown, webhookId: string) => void;
}

export interface WebhookRunner {
  /** Takes ownership of the due webhook endpoints on a database server, and starts to send their messages. */
  look(nodePool: Pool): Promise<NextTurn>;
  /** Starts nothing more, waits for running requests, and releases every endpoint. */
  stop(): Promise<void>;
}

/** Limits concurrent work; further calls wait in order. */
function limitConcurrency(maxConcurrent: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = maxConcurrent;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

export function createWebhookRunner({
  pool,
  sender,
  turnConfig: setUp,
  onAttempt,
  onFault,
}: RunnerOptions): WebhookRunner {
  const driven = new Set<Promise<void>>();
  const inTurn = limitConcurrency(maxConcurrentTurns);
  let isStopping = false;

  const begin = (orgId: string, webhookId: string, epoch: number): void => {
    const until = performance.now() + timeSliceMillis;
    const driving = sendEndpointMessages({
      runTurn: (asked) =>
        inTurn(() =>
          inOrganizationAsSystem(pool, orgId, (db) =>
            runDeliveryRound(db, { orgId, webhookId, epoch, ...asked }, setUp),
          ),
        ),
      send: async (endpoint: TurnResponse, message) => {
        const sent = await attemptMessage(sender, endpoint, message);
        onAttempt(orgId, webhookId, sent);
        return sent;
      },
      mustRelease: () => isStopping || performance.now() > until,
      onFault: (error) => {
        onFault(error, webhookId);
      },
    })
      .catch((error: unknown) => {
        onFault(error, webhookId);
      })
      .finally(() => driven.delete(driving));
    driven.add(driving);
  };

  return {
    look: async (at) => {
      const room = maxEndpoints - driven.size;
      if (isStopping || room === 0) return 'rest';
      const due = await acrossOrganizations(at, (db) => db.all(dueWebhooksQuery(room)));
      const byOrganization = Map.groupBy(due.slice(0, room), ({ orgId }) => orgId);
      for (const [orgId, webhooks] of byOrganization) {
        const ids = webhooks.map(({ id }) => id);
        const passed = await inTurn(() =>
          inOrganizationAsSystem(pool, orgId, (db) => db.all(skipUnsubscribedEvents(ids))),
        );
        for (const id of ids.filter((one) => passed.every(({ id: other }) => other !== one))) {
          const held = await inTurn(() =>
            inOrganizationAsSystem(pool, orgId, (db) => acquireWebhook(db, id)),
          );
          if (held !== undefined) begin(orgId, id, held.worker_epoch);
        }
      }
      return 'rest';
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(driven);
      sender.close();
    },
  };
}

/** Classifies an attempt for metrics. */
export const attemptOutcomeOf = ({ attempt }: SentMessage): 'delivered' | 'failed' =>
  isDelivered(attempt) ? 'delivered' : 'failed';
