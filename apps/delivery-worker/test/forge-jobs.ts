/** Performs the forge jobs as the worker does, one outbox row after the other. */
import {
  queueChangedStatuses,
  requestPullPolls,
  replayFacts,
  sendStatus,
  processDelivery,
} from '@muster/forges';
import { pollForge, createForgeCalls, fetchAppKeys, fetchChanges } from '@muster/forges';
import { type OutboxJobName } from '@muster/jobs';
import { parseNetworks } from '@muster/outbound';
import { type World } from '@muster/testing';
import { createAskForge } from '../src/ask-forge.ts';
import { createJobPerformer } from '../src/perform.ts';
import { createSender } from '@muster/outbound/sender';
import { secretCipher, environment } from './forge-deliveries.ts';
import { workersWith } from './line.ts';

export interface ForgeRow {
  readonly id: string;
  readonly topic: OutboxJobName;
  readonly payload: Record<string, string>;
  readonly error: string | null;
  /** Whole seconds until the row is due. */
  readonly dueIn: number;
}

export interface ForgeJobs {
  /** Lists the organization's unprocessed outbox rows, oldest first, except those that ask for changed files. */
  listPending(orgId: string): Promise<ForgeRow[]>;
  /** Lists the outbox rows that ask for changed files. */
  listPendingChanges(orgId: string): Promise<ForgeRow[]>;
  /** Performs the job of one outbox row and throws the error of that job. */
  perform(orgId: string, row: Pick<ForgeRow, 'id' | 'topic'>): Promise<string>;
  /** Performs all rows that are due or due soon, including those that they create. */
  settle(orgId: string): Promise<void>;
  reconcile(): Promise<void>;
  close(): void;
}

const soonSeconds = 10;

export function openForgeJobs(world: World, networks = '127.0.0.0/8:*'): ForgeJobs {
  const sender = createSender({ networks: parseNetworks(networks) });
  const pool = world.database.app;
  const calls = createForgeCalls({
    ...{ pool, environment, seals: secretCipher, ask: createAskForge(sender) },
    linkToStory: ({ key }) => `https://muster.example/stories/${key}`,
  });
  const run = createJobPerformer(
    pool,
    workersWith({
      'forge.translate': async ({ db, orgId, payload }) => {
        await processDelivery({ db, orgId, environment }, payload.deliveryId);
        return undefined;
      },
      'forge.replay': async ({ db, orgId, payload }) => {
        await replayFacts({ db, orgId, environment }, payload.executionId);
        return undefined;
      },
      'forge.status': ({ payload, ...job }) => sendStatus(calls, job, payload),
      'forge.statuses': (work) => queueChangedStatuses(calls, work),
      'forge.changes': ({ payload, ...job }) => fetchChanges(calls, job, payload.executionId),
      'forge.app': ({ payload, ...job }) => fetchAppKeys(calls, job, payload),
      'forge.ask': ({ payload, ...job }) => pollForge(calls, job, payload),
    }),
  );
  const rowsOf = (orgId: string, topics: 'forge.changes' | 'others') =>
    world.rows<ForgeRow>(
      `select id, topic, payload, error, round(extract(epoch from dispatch_after - now()))::int as "dueIn" from outbox
       where org_id = $1 and topic like 'forge.%' and (topic = 'forge.changes') = ($2 = 'forge.changes')
         and done_at is null order by id`,
      orgId,
      topics,
    );
  const waiting = (orgId: string) => rowsOf(orgId, 'others');
  const perform: ForgeJobs['perform'] = (orgId, { id, topic }) =>
    run(topic, { orgId, rowId: id }, new AbortController().signal);
  return {
    listPending: waiting,
    perform,
    listPendingChanges: (orgId) => rowsOf(orgId, 'forge.changes'),
    settle: async (orgId) => {
      for (;;) {
        const due = (await waiting(orgId)).find(({ dueIn }) => dueIn <= soonSeconds);
        if (due === undefined) return;
        await perform(orgId, due);
      }
    },
    reconcile: () => requestPullPolls(pool, new AbortController().signal),
    close: () => {
      sender.close();
    },
  };
}
