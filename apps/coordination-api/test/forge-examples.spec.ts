/**
 * A recorded GitHub delivery for each kind of event, signed and sent over HTTP: the facts read from it, or
 * the reason why it is ignored. libs/forges translates all recorded deliveries.
 */
import { createHmac } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { processDelivery } from '@muster/forges';
import { handlers, performableHandlers, reactions } from '@muster/operations';
import { type ForgeDelivery } from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { recordedDeliveries } from '@muster/testing/github';
import { checkEachCase } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi({ LIMIT_DELIVERIES: '10000/1' });
const idOf = (key: string, index: number): string => `${key} ${index}`.replaceAll(' ', '-');
/** The first delivery of each event and action. */
const sentDeliveries = [...Map.groupBy(recordedDeliveries, ({ key }) => key).values()].flatMap(
  ([first]) => first ?? [],
);
let deliveries: ReadonlyMap<string, ForgeDelivery>;
const answers: number[] = [];

beforeAll(async () => {
  const people = await api.org();
  const ana = api.client(people.ana.me.token);
  await ana.projects.create({ key: 'WEB', name: 'Web' });
  const { connection, setup } = await ana.forges.connect({ kind: 'github' });
  const repositories = new Set(
    sentDeliveries.flatMap(({ payload }) => {
      const { repository } = payload as { repository?: { id?: number } };
      return repository?.id === undefined ? [] : [String(repository.id)];
    }),
  );
  for (const externalId of repositories)
    await ana.forges.repositories.link({ projectId: 'WEB', connectionId: connection.id, externalId });
  for (const { event, key, index, payload } of sentDeliveries) {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', setup.secret).update(body).digest('hex');
    const { status } = await api.request(new URL(setup.webhookUrl).pathname, {
      ...{ method: 'POST', token: null, body },
      headers: {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-github-delivery': idOf(key, index),
        'x-hub-signature-256': `sha256=${signature}`,
      },
    });
    answers.push(status);
  }
  const jobs = await api.world.rows<{ id: string }>(
    `select payload ->> 'deliveryId' as id from outbox where org_id = $1 and topic = 'forge.translate' order by id`,
    people.orgId,
  );
  const environment = { handlers: performableHandlers(handlers), reactions };
  for (const { id } of jobs) {
    await inOrganizationAsSystem(api.world.database.app, people.orgId, (db) =>
      processDelivery({ db, orgId: people.orgId, environment }, id),
    );
  }
  const kept: ForgeDelivery[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await ana.forges.deliveries.list({
      ...{ connectionId: connection.id, limit: 200 },
      ...(cursor !== undefined && { cursor }),
    });
    kept.push(...page.items);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  deliveries = new Map(kept.map((delivery) => [delivery.deliveryId, delivery]));
}, 120_000);

it('takes each, and keeps each once', () => {
  expect(sentDeliveries.length).toBeGreaterThan(58);
  expect(answers).toEqual(sentDeliveries.map(() => 202));
  expect(deliveries.size).toBe(sentDeliveries.length);
});

/** Returns the kind of a recorded fact from its description. Facts about checks all have the kind `check`. */
const kindsOf = (words: string): string => (words.startsWith('check ') ? 'check' : words);

it('reads what is read, and says why it ignores the rest', async () => {
  const cases = sentDeliveries.map((delivery) => [delivery.key, delivery] as const);
  await checkEachCase(cases, ({ key, index, says }) => {
    const { state, trust, outcome = [] } = deliveries.get(idOf(key, index)) ?? {};
    expect(trust).toBe('verified');
    const kinds = outcome.map(({ kind }) => kind ?? 'ignored').join(' ');
    expect(says.map(kindsOf)).toContain(kinds);
    expect(state).not.toBe('failed');
    if (kinds !== 'ignored') return;
    expect(state).toBe('ignored');
    expect(outcome[0]?.reason).toMatch(/\w+ \w+/);
  });
});
