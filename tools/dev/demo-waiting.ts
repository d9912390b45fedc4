/**
 * Creates work that waits for Ana on the demo's board, one of each kind, so that the first view of Now shows
 * all kinds.
 * The comments of the board already mention her.
 */
import { type Client } from '@muster/client';
import { type DemoPerson } from './demo-stories.ts';

type People = Record<DemoPerson, Client>;

const day = 86_400;
/** The shortest duration of a lease in seconds. It has expired by the time a person looks. */
const shortest = 30;

const storyTitles = {
  reviewed: 'Serve images in the size they are shown',
  offered: 'Cache product pages at the edge for a minute',
  stalled: 'Offer a passkey on the thank-you page',
  reworked: 'Filters remember their place when going back',
} as const;

export async function makeWaiting(people: People, storyIds: ReadonlyMap<string, string>): Promise<void> {
  const idOf = (which: keyof typeof storyTitles): string => {
    const id = storyIds.get(storyTitles[which]);
    if (id === undefined) throw new Error(`the demo has no story ${storyTitles[which]}`);
    return id;
  };
  const { member: ana } = await people.ana.session.identity({});
  await people.chloe.reviewers.add({ storyId: idOf('reviewed'), memberId: ana.id });
  await offer(people.chloe, idOf('offered'), ana.id);
  await leaveOff(people.ben, idOf('stalled'));
  await failChecks(people.agent, idOf('reworked'));
}

export async function takeWork(
  { deliveryExecutions }: Client,
  targetId: string,
  more: { readonly runId?: string; readonly ttlSeconds?: number } = {},
) {
  const wish = { targetType: 'story', targetId, runId: 'demo-waiting', ...more } as const;
  const { execution, leaseToken } = await deliveryExecutions.acquire(wish);
  return { executionId: execution.id, leaseToken };
}

async function offer(client: Client, storyId: string, toMemberId: string): Promise<void> {
  const held = await takeWork(client, storyId);
  await client.deliveryExecutions.checkpoint({
    ...{ ...held, summary: 'Pages without a basket are cached; those with one are not yet.' },
    nextSteps: ['Leave out who is signed in', 'Measure the share of hits'],
  });
  await client.deliveryExecutions.handoff({
    ...{ ...held, toMemberId, offerTtlSeconds: day },
    note: 'You know the edge best: the rest is headers.',
  });
}

async function leaveOff(client: Client, storyId: string): Promise<void> {
  const held = await takeWork(client, storyId, { ttlSeconds: shortest });
  await client.deliveryExecutions.checkpoint({
    ...{ ...held, summary: 'The button is there; Firefox for Android is open.' },
    nextSteps: ['Try the button in Firefox for Android'],
  });
}

async function failChecks(client: Client, storyId: string): Promise<void> {
  const held = await takeWork(client, storyId);
  await client.deliveryExecutions.complete({
    ...{ ...held, outcome: 'submitted', summary: 'Filters are kept in the address.' },
    pullRequest: { number: 212, url: 'https://github.com/acme-example/web-shop/pull/212' },
  });
  await client.deliveryExecutions.recordForgeObservation({
    executionId: held.executionId,
    observation: {
      ...{ dedupeKey: 'demo-checks', kind: 'checks_failed', number: 212 },
      observedAt: new Date().toISOString(),
    },
  });
}
