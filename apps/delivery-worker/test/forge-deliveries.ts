/** Signs deliveries as forges do, receives them as the API does, and translates them as the worker does. */
import { createHmac, randomUUID } from 'node:crypto';
import { receiveDelivery, replayFacts, processDelivery } from '@muster/forges';
import { type AllHandlers, handlers, performableHandlers, reactions } from '@muster/operations';
import { createSecretCipher } from '@muster/outbound';
import { type ForgeDelivery, type ForgeKind } from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type People, type World } from '@muster/testing';

export const environment = { handlers: performableHandlers(handlers), reactions };
export const secretCipher = createSecretCipher([]);

const eventHeader: Readonly<Record<ForgeKind, string>> = {
  github: 'x-github-event',
  gitlab: 'x-gitlab-event',
  gitea: 'x-gitea-event',
  forgejo: 'x-forgejo-event',
};
const idHeader: Readonly<Record<ForgeKind, string>> = {
  github: 'x-github-delivery',
  gitlab: 'webhook-id',
  gitea: 'x-gitea-delivery',
  forgejo: 'x-forgejo-delivery',
};

export const hmac = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Returns the Standard Webhooks headers that GitLab sends with its signing token. */
export function standardHeaders(secret: string, id: string, body: string): Record<string, string> {
  const at = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
}

export interface ForgeWithSecret {
  readonly id: string;
  readonly kind: ForgeKind;
  readonly secret: string;
}

export interface SentDelivery {
  readonly event: string;
  readonly payload: unknown;
  readonly deliveryId?: string;
}

export function signDelivery(
  { kind, secret }: ForgeWithSecret,
  { event, payload, deliveryId = randomUUID() }: SentDelivery,
): { headers: Record<string, string>; body: string; deliveryId: string } {
  const body = JSON.stringify(payload);
  const signature =
    kind === 'gitlab'
      ? standardHeaders(secret, deliveryId, body)
      : { 'x-hub-signature-256': hmac(secret, body), [idHeader[kind]]: deliveryId };
  return { headers: { [eventHeader[kind]]: event, ...signature }, body, deliveryId };
}

/** Receives and translates a delivery, and returns its result. */
export async function deliver(
  world: World<AllHandlers>,
  people: People<AllHandlers>,
  connection: ForgeWithSecret,
  sent: SentDelivery,
): Promise<ForgeDelivery> {
  const { headers, body, deliveryId } = signDelivery(connection, sent);
  await receiveDelivery(world.database.app, secretCipher, {
    ...{ connectionId: connection.id, headers, body: Buffer.from(body) },
  });
  await processDeliveries(world, people.orgId);
  const { items } = await people.ana.forges.deliveries.list({ connectionId: connection.id, limit: 200 });
  const found = items.find((item) => item.deliveryId === deliveryId);
  if (found === undefined) throw new Error('the delivery was not kept');
  return found;
}

/** Performs the requested jobs, in order. */
export async function processDeliveries(world: World<AllHandlers>, orgId: string): Promise<void> {
  for (;;) {
    const jobs = await world.rows<{ id: string; topic: string; payload: Record<string, string> }>(
      `select id, topic, payload from outbox
       where org_id = $1 and topic in ('forge.translate', 'forge.replay') and done_at is null order by id`,
      orgId,
    );
    if (jobs.length === 0) return;
    for (const { id, topic, payload } of jobs) {
      await inOrganizationAsSystem(world.database.app, orgId, async (db) => {
        const work = { db, orgId, environment };
        await (topic === 'forge.replay'
          ? replayFacts(work, payload['executionId'] ?? '')
          : processDelivery(work, payload['deliveryId'] ?? ''));
      });
      await world.rows('update outbox set done_at = now() where org_id = $1 and id = $2', orgId, id);
    }
  }
}

/**
 * Creates an organization whose policy trusts only the forge, with a project that is linked to a GitHub
 * repository.
 */
export async function withGithub(
  world: World<AllHandlers>,
  link: { readonly url: string } | { readonly externalId: string },
): Promise<{ people: People<AllHandlers>; github: ForgeWithSecret }> {
  const people = await world.org({ policy: { requireMergeProof: true, mergeProof: 'verified' } });
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  const github = await connect(people, 'github');
  await people.ana.forges.repositories.link({ projectId: 'WEB', connectionId: github.id, ...link });
  return { people, github };
}

export async function connect(
  people: People<AllHandlers>,
  kind: ForgeKind,
  baseUrl?: string,
): Promise<ForgeWithSecret> {
  const { connection, setup } = await people.ana.forges.connect({
    kind,
    ...(baseUrl !== undefined && { baseUrl }),
  });
  return { id: connection.id, kind, secret: setup.secret };
}
