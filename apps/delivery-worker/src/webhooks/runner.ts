/** Finds due webhook endpoints that no worker owns, and sends their messages. */
import { type Pool } from '@muster/driver';
import { type After } from '@muster/http';
import {
  dueWebhooks,
  holdWebhook,
  isDelivered,
  passOverWebhooks,
  takeTurn,
  type SentMessage,
  type TurnAnswer,
  type TurnSetUp,
} from '@muster/notifications';
import { drive } from './drive.ts';
import { type Sender } from '@muster/outbound/sender';
import { acrossOrganizations, inOrganizationAsSystem } from '@muster/tenancy';
import { send } from './send.ts';

/** Maximum number of endpoints at once. Each has up to 8 concurrent requests. */
const mostEndpoints = 64;
/** Maximum number of concurrent database transactions for webhooks, so that jobs still get connections. */
const mostTurns = 2;
/** Time slice after which an endpoint with more messages is released for others. */
const sliceMillis = 60_000;

export interface RunnerOptions {
  readonly pool: Pool;
  readonly sender: Sender;
  readonly setUp: TurnSetUp;
  readonly onTried: (orgId: string, webhookId: string, sent: SentMessage) => void;
  readonly onFault: (error: unknown, webhookId: string) => void;
}

export interface Runner {
  /** Takes ownership of the due webhook endpoints on a database server, and starts to send their messages. */
  look(at: Pool): Promise<After>;
  /** Starts nothing more, waits for running requests, and releases every endpoint. */
  stop(): Promise<void>;
}

/** Limits concurrent work; further calls wait in order. */
function takingTurns(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = most;
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

export function createRunner({ pool, sender, setUp, onTried, onFault }: RunnerOptions): Runner {
  const driven = new Set<Promise<void>>();
  const inTurn = takingTurns(mostTurns);
  let isStopping = false;

  const begin = (orgId: string, webhookId: string, epoch: number): void => {
    const until = performance.now() + sliceMillis;
    const driving = drive({
      turn: (asked) =>
        inTurn(() =>
          inOrganizationAsSystem(pool, orgId, (db) =>
            takeTurn(db, { orgId, webhookId, epoch, ...asked }, setUp),
          ),
        ),
      send: async (endpoint: TurnAnswer, message) => {
        const sent = await send(sender, endpoint, message);
        onTried(orgId, webhookId, sent);
        return sent;
      },
      isOver: () => isStopping || performance.now() > until,
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
      const room = mostEndpoints - driven.size;
      if (isStopping || room === 0) return 'rest';
      const due = await acrossOrganizations(at, (db) => db.all(dueWebhooks(room)));
      const byOrganization = Map.groupBy(due.slice(0, room), ({ orgId }) => orgId);
      for (const [orgId, webhooks] of byOrganization) {
        const ids = webhooks.map(({ id }) => id);
        const passed = await inTurn(() =>
          inOrganizationAsSystem(pool, orgId, (db) => db.all(passOverWebhooks(ids))),
        );
        for (const id of ids.filter((one) => passed.every(({ id: other }) => other !== one))) {
          const held = await inTurn(() => inOrganizationAsSystem(pool, orgId, (db) => holdWebhook(db, id)));
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
export const outcomeOf = ({ tried }: SentMessage): 'delivered' | 'failed' =>
  isDelivered(tried) ? 'delivered' : 'failed';
