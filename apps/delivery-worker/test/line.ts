/** Outbox, relay, queues and workers on real Redis and Postgres, controlled step by step. */
import { randomBytes } from 'node:crypto';
import { newId, type Pool } from '@muster/driver';
import { type JobName, type OutboxJobName, type PayloadOf, type QueueName, queueNames } from '@muster/jobs';
import {
  openQueues,
  type JobOutcome,
  type Queues,
  startQueueWorker,
  type RunningWorker,
} from '@muster/redis/queues';
import { redisUrl, waitUntil, type World } from '@muster/testing';
import { createJobPerformer, type Workers } from '../src/perform.ts';
import { type DeadRow, runRelayTurn } from '../src/relay.ts';

export { redisUrl, waitUntil };

const unexpectedJob = async (): Promise<never> => {
  throw new Error('this spec has no worker for it');
};

/** Creates workers of which only the given ones are implemented. */
export const workersWith = (given: Partial<Workers>): Workers => ({
  event: unexpectedJob,
  'gamification.sync': unexpectedJob,
  'invitation.mail': unexpectedJob,
  'notification.deliver': unexpectedJob,
  'notification.mail': unexpectedJob,
  'notification.push': unexpectedJob,
  'digest.mail': unexpectedJob,
  'digests.request': unexpectedJob,
  'token.mail': unexpectedJob,
  'passkey.mail': unexpectedJob,
  'chat.mail': unexpectedJob,
  'slack.respond': unexpectedJob,
  'identityProvider.check': unexpectedJob,
  'domain.mail': unexpectedJob,
  'identityProviders.check': unexpectedJob,
  'tokens.warn': unexpectedJob,
  'forge.translate': unexpectedJob,
  'forge.replay': unexpectedJob,
  'forge.status': unexpectedJob,
  'forge.statuses': unexpectedJob,
  'forge.ask': unexpectedJob,
  'forge.changes': unexpectedJob,
  'forge.app': unexpectedJob,
  'forge.reconcile': unexpectedJob,
  'export.write': unexpectedJob,
  'retention.purge': unexpectedJob,
  'deletions.remove': unexpectedJob,
  'files.remove': unexpectedJob,
  'leases.sweep': unexpectedJob,
  'seats.recalculate': unexpectedJob,
  'seats.reconcile': unexpectedJob,
  ...given,
});

export interface OutboxRow {
  readonly id: string;
  readonly topic: string;
  readonly attempts: number;
  readonly done: boolean;
  readonly dead: boolean;
  readonly error: string | null;
}

export interface OutboxHarness {
  readonly prefix: string;
  readonly queues: Queues;
  readonly dead: DeadRow[];
  readonly ends: { readonly name: JobName; readonly outcome: JobOutcome }[];
  /** Writes an outbox row as an operation does, and returns its id. */
  ask<Name extends OutboxJobName>(orgId: string, topic: Name, payload: PayloadOf<Name>): Promise<string>;
  /** Writes many rows in one statement. */
  askAll<Name extends OutboxJobName>(
    orgId: string,
    topic: Name,
    rows: readonly { readonly id: string; readonly payload: PayloadOf<Name> }[],
  ): Promise<void>;
  rows(orgId: string): Promise<OutboxRow[]>;
  /** Makes all postponed rows due. */
  makeRowsDue(): Promise<void>;
  runRelayTurn(): Promise<'more' | 'rest'>;
  /** Starts another set of workers, as a further process would. */
  startWorkers(workers: Partial<Workers>, setUp?: { pool?: Pool; url?: string }): RunningWorker[];
  /** Deletes all keys of these queues, as FLUSHALL does. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function openOutboxHarness(world: World, url = redisUrl()): OutboxHarness {
  const prefix = `{spec-${randomBytes(6).toString('hex')}}`;
  const onError = (): void => undefined;
  const queues = openQueues({ url, prefix, onError });
  const hired: RunningWorker[] = [];
  const dead: DeadRow[] = [];
  const ends: OutboxHarness['ends'] = [];

  let isOpen = true;
  const flush = async (): Promise<void> => {
    const client = await queues.all[0]?.getBackend().client;
    if (client === undefined) return;
    let cursor = '0';
    do {
      const [next, keys] = await client.scan(cursor, { MATCH: `${prefix}:*`, COUNT: 1_000 });
      if (keys.length > 0) await client.del(...keys);
      cursor = next;
    } while (cursor !== '0');
  };

  const askAll: OutboxHarness['askAll'] = async (orgId, topic, rows) => {
    await world.rows(
      `insert into outbox (org_id, id, topic, payload)
       select $1, r.id, $2, r.payload from jsonb_to_recordset($3::jsonb) r (id uuid, payload jsonb)`,
      orgId,
      topic,
      JSON.stringify(rows),
    );
  };

  return {
    prefix,
    queues,
    dead,
    ends,
    ask: async (orgId, topic, payload) => {
      const id = newId();
      await askAll(orgId, topic, [{ id, payload }]);
      return id;
    },
    askAll,
    rows: (orgId) =>
      world.rows<OutboxRow>(
        `select id, topic, attempts, done_at is not null as done, dead_at is not null as dead, error
         from outbox where org_id = $1 order by id`,
        orgId,
      ),
    makeRowsDue: async () => {
      await world.rows('update outbox set dispatch_after = now() where done_at is null');
    },
    runRelayTurn: () => runRelayTurn({ pool: world.database.app, queues, onDead: (row) => dead.push(row) }),
    startWorkers: (workers, { pool = world.database.app, url: workerUrl = url } = {}) => {
      const run = createJobPerformer(pool, workersWith(workers));
      const team = queueNames.map((queue: QueueName) =>
        startQueueWorker({
          url: workerUrl,
          prefix,
          queue,
          concurrency: 4,
          run,
          onError,
          onEnd: ({ name, outcome }) => ends.push({ name, outcome }),
        }),
      );
      hired.push(...team);
      return team;
    },
    flush,
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await Promise.all(hired.map((one) => one.close(2_000)));
      await flush();
      await queues.close();
    },
  };
}
