/**
 * Tests the proof of a merge. The holder of a token can only report a merge; only a connected forge can
 * verify it.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { internalBoardHandlers } from '@muster/board';
import { internalHandlers } from '@muster/delivery';
import { handlers, reactions } from '@muster/operations';
import { type ExecutionState, type Policy, type Trust } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { forge, observeAsForge, type ForgeObservation } from './forge-observations.ts';

const world = useWorld(
  { ...handlers, insideBoard: internalBoardHandlers, insideHandlers: internalHandlers },
  reactions,
);

let people: PeopleOf<typeof world>;
let projectId: string;
let storyId: string;
let held: { executionId: string; leaseToken: string };

async function begin(policy: Partial<Policy>): Promise<void> {
  people = await world.org();
  ({
    project: { id: projectId },
  } = await people.ana.projects.create({ key: 'WEB', name: 'Web' }));
  await people.ana.policy.update(policy);
  const { story } = await people.ana.stories.create({ projectId, title: 'Land it', status: 'in_progress' });
  storyId = story.id;
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    targetType: 'story',
    targetId: storyId,
  });
  held = { executionId: execution.id, leaseToken };
}

const url = 'https://example.com/pull/7';
const merge = (dedupeKey: string) =>
  ({ dedupeKey, kind: 'pr_merged', number: 7, url, observedAt: '2026-11-21T09:30:00.000Z' }) as const;
const reportMerge = (who: PersonOf<typeof world>, dedupeKey = 'merge') =>
  who.deliveryExecutions.recordForgeObservation({
    executionId: held.executionId,
    observation: merge(dedupeKey),
  });
const observeMergeAsForge = (trust: Trust, observation: ForgeObservation = merge('merge')) =>
  observeAsForge(
    world,
    { orgId: people.orgId, projectId },
    { executionId: held.executionId, observation, trust },
  );
const handIn = () =>
  people.chloe.deliveryExecutions.complete({
    ...{ ...held, outcome: 'submitted' },
    pullRequest: { number: 7, url },
  });
const succeed = () => people.chloe.deliveryExecutions.complete({ ...held, outcome: 'succeeded' });
const missingProofDetails = (seen: Trust | null) => ({
  status: 422,
  reason: 'policy',
  body: { details: { unmet: [{ gate: 'requireMergeProof', needs: 'verified', seen }] } },
});
async function readStates(): Promise<[ExecutionState, string]> {
  const { execution } = await people.ana.deliveryExecutions.get({ executionId: held.executionId });
  const { story } = await people.ana.stories.get({ storyId });
  return [execution.state, story.status];
}

describe('under mergeProof verified', () => {
  beforeEach(() => begin({ requireMergeProof: true, mergeProof: 'verified' }));

  it('refuses to complete on a merge that was only reported, and says that the forge has to tell of it', async () => {
    await expect(succeed()).rejects.toMatchObject(missingProofDetails(null));
    for (const who of [people.ana, people.chloe, people.robo]) {
      expect(await reportMerge(who, who.me.name)).toMatchObject({
        recorded: true,
        observation: { kind: 'pr_merged', trust: 'reported' },
      });
    }
    await expect(succeed()).rejects.toMatchObject(missingProofDetails('reported'));
    await expect(people.ana.stories.updateStatus({ storyId, status: 'done' })).rejects.toMatchObject(
      missingProofDetails('reported'),
    );
    await observeMergeAsForge('verified');
    expect((await succeed()).execution.state).toBe('completed');
  });

  it('leaves work that was handed in where it is at a report, and lands it at the word of the forge', async () => {
    await handIn();
    expect(await reportMerge(people.ana)).toMatchObject({
      recorded: true,
      execution: { state: 'submitted' },
    });
    expect(await readStates()).toEqual(['submitted', 'in_review']);
    // The member's report used the deduplication key first. The forge's own observation with the same key
    // still counts as a new one.
    expect(await observeMergeAsForge('verified')).toMatchObject({
      recorded: true,
      observation: { trust: 'verified' },
    });
    expect(await readStates()).toEqual(['completed', 'done']);
    expect(await observeMergeAsForge('verified')).toMatchObject({ recorded: false });
  });

  it('lands the story with its work at a second report, once reports count', async () => {
    await handIn();
    await reportMerge(people.ana);
    await people.ana.policy.update({ mergeProof: 'reported' });
    await reportMerge(people.ana, 'again');
    expect(await readStates()).toEqual(['completed', 'done']);
    // After the story was reopened, a further report of the same merge does not move it.
    await people.ana.stories.updateStatus({ storyId, status: 'in_progress' });
    await reportMerge(people.ana, 'third');
    expect(await readStates()).toEqual(['completed', 'in_progress']);
  });

  it('lands the story when its holder completes work whose report counts by now', async () => {
    await reportMerge(people.ana);
    await people.ana.policy.update({ mergeProof: 'reported' });
    await succeed();
    expect(await readStates()).toEqual(['completed', 'done']);
  });

  it('hears the forge say that it was closed after somebody reported a merge', async () => {
    await handIn();
    await reportMerge(people.ana);
    const closed = { ...merge('closed'), kind: 'pr_closed', observedAt: '2026-11-21T09:31:00.000Z' } as const;
    expect(await observeMergeAsForge('verified', closed)).toMatchObject({
      execution: { state: 'available', needsRework: true, git: { pullRequest: { state: 'closed' } } },
    });
  });

  it('takes what a forge sent without a signature for a report', async () => {
    await handIn();
    await observeMergeAsForge('reported');
    expect(await readStates()).toEqual(['submitted', 'in_review']);
  });

  it('keeps the landing of a group for what the forge told of, and names the stories that it did not', async () => {
    await people.chloe.deliveryExecutions.release(held);
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId, name: 'Both', storyIds: [storyId] },
    });
    const land = async () => {
      const { state } = (await people.ana.deliveryGroups.get({ groupId: group.id })).group;
      if (state === 'draft')
        for (const next of ['active', 'in_review'] as const)
          await people.ana.deliveryGroups.update({ groupId: group.id, state: next });
      return people.ana.deliveryGroups.update({ groupId: group.id, state: 'landed' });
    };
    await reportMerge(people.ana);
    const [unmet] = missingProofDetails('reported').body.details.unmet;
    await expect(land()).rejects.toMatchObject({
      body: { details: { unmet: [{ ...unmet, stories: ['WEB-1'] }] } },
    });
    await observeMergeAsForge('verified');
    expect((await land()).group.state).toBe('landed');
  });

  it('says in the stream and in the activity who told of it', async () => {
    await handIn();
    await observeMergeAsForge('verified');
    const { items } = await people.ana.deliveryExecutions.eventsSince({ executionId: held.executionId });
    expect(items.find(({ kind }) => kind === 'forge')).toMatchObject({
      actor: forge,
      data: { kind: 'pr_merged', trust: 'verified' },
    });
    const observed = await people.ana.activity.list({ kinds: ['execution.observed'] });
    expect(observed.items.map(({ actor }) => actor)).toEqual([forge]);
  });
});

describe('under any other policy', () => {
  it.each<Partial<Policy>>([{}, { requireMergeProof: true }, { mergeProof: 'verified' }])(
    'lets a reported merge complete the work: %j',
    async (policy) => {
      await begin(policy);
      await handIn();
      await reportMerge(people.ana);
      expect(await readStates()).toEqual(['completed', 'done']);
    },
  );
});

it('lets the report of an agent complete nothing where agents may not, and the next one of a person', async () => {
  await begin({ agentsMayComplete: false });
  await handIn();
  await reportMerge(people.robo);
  expect(await readStates()).toEqual(['submitted', 'in_review']);
  await reportMerge(people.ana, 'again');
  expect(await readStates()).toEqual(['completed', 'done']);
});

describe('in a project with a linked repository', () => {
  const link = async () => {
    const { connection } = await people.ana.forges.connect({ kind: 'github' });
    await people.ana.forges.repositories.link({
      ...{ projectId, connectionId: connection.id, url: 'https://github.com/acme/web' },
    });
    return connection.id;
  };
  const policyNow = async () =>
    (await people.ana.storyCollaboration.context({ storyId, include: ['policy'] })).policy;

  it('asks for the word of the forge until an admin chooses otherwise', async () => {
    await begin({ requireMergeProof: true });
    expect(await policyNow()).toMatchObject({ mergeProof: 'reported' });
    await link();
    expect(await policyNow()).toMatchObject({ mergeProof: 'verified' });
    expect((await people.ana.policy.get()).policy.mergeProof).toBe('verified');
    await expect(people.ana.stories.updateStatus({ storyId, status: 'done' })).rejects.toMatchObject(
      missingProofDetails(null),
    );
    await handIn();
    await reportMerge(people.ana);
    expect(await readStates()).toEqual(['submitted', 'in_review']);
    await people.ana.policy.update({ mergeProof: 'reported' });
    await reportMerge(people.ana, 'again');
    expect((await readStates())[0]).toBe('completed');
    await people.ana.stories.updateStatus({ storyId, status: 'done' });
  });

  it('asks for it no more once the forge is disconnected', async () => {
    await begin({ requireMergeProof: true });
    const connectionId = await link();
    await people.ana.forges.disconnect({ connectionId });
    await handIn();
    await reportMerge(people.ana);
    expect(await readStates()).toEqual(['completed', 'done']);
  });
});

it('lets no token choose the trust of what it tells', async () => {
  await begin({});
  const observation = { ...merge('chosen'), trust: 'verified' };
  await expect(
    people.ana.deliveryExecutions.recordForgeObservation({ executionId: held.executionId, observation }),
  ).rejects.toMatchObject({ status: 400 });
});

it("lets no token take a key of the forge's own", async () => {
  await begin({});
  await expect(reportMerge(people.chloe, 'verified:merge')).rejects.toMatchObject({
    status: 400,
    body: { details: { issues: [{ path: 'observation.dedupeKey' }] } },
  });
});

describe('a story that waits for another', () => {
  /** Creates a story that waits for the other one, and returns its key. */
  const makeWaiting = async (blockerId: string): Promise<string> =>
    (
      await people.ana.stories.create({
        ...{ projectId, title: 'Wait', status: 'ready', blockedBy: [blockerId], labels: ['next'] },
      })
    ).story.key;
  const unblocked = async () =>
    (await people.ana.activity.list({ kinds: ['story.unblocked'] })).items.map(({ subject }) => subject.key);
  /** Returns the answers of all reads that know if the story is blocked. */
  const answersAbout = async (key: string) => {
    const { readiness } = await people.ana.storyCollaboration.context({
      storyId: key,
      include: ['readiness'],
    });
    const { items: cards } = await people.ana.stories.list({ projectId, view: 'card', label: 'next' });
    const search = await people.ana.stories.search({ label: 'next', hasOpenBlockers: true });
    const { waves, blocked } = await people.ana.projects.waves({ projectId });
    const next = await people.chloe.deliveryExecutions.acquireNext({
      projectId,
      labels: ['next'],
    });
    return {
      readiness: readiness?.reasons,
      card: cards.map((card) => 'counts' in card && card.counts.openBlockers),
      found: search.items.map((card) => card.key),
      waves: waves.find(({ stories }) => stories.some((card) => card.key === key))?.index,
      blocked,
      skipped: next.skipped.map(({ reasons }) => reasons),
    };
  };

  it('is blocked until the forge has proved the merge, whatever is reported', async () => {
    await begin({ requireMergeProof: true, mergeProof: 'verified' });
    const key = await makeWaiting(storyId);
    const blocked = {
      ...{ readiness: ['blocked_by'], card: [1], found: [key], waves: 1, blocked: 1 },
      skipped: [['blocked_by']],
    };
    await handIn();
    await reportMerge(people.ana);
    const finish = () => people.ana.stories.updateStatus({ storyId, status: 'done' });
    await expect(finish()).rejects.toMatchObject({ reason: 'policy' });
    expect(await answersAbout(key)).toEqual(blocked);
    expect(await unblocked()).toEqual([]);
    await observeMergeAsForge('verified');
    expect(await answersAbout(key)).toEqual({
      ...{ readiness: [], card: [0], found: [], waves: 0, blocked: 0, skipped: [] },
    });
    expect(await unblocked()).toEqual([key]);
  });

  it('waits for a parent until the forge has proved the merges of all its children', async () => {
    await begin({ requireMergeProof: true, mergeProof: 'verified', closeParents: true });
    const { story: parent } = await people.ana.stories.create({ projectId, title: 'All', status: 'ready' });
    const key = await makeWaiting(parent.id);
    await people.ana.stories.update({ storyId, parentId: parent.id });
    const { story: dropped } = await people.ana.stories.create({
      ...{ projectId, title: 'Drop', parentId: parent.id, status: 'ready' },
    });
    await handIn();
    await reportMerge(people.ana);
    await people.ana.stories.updateStatus({ storyId: dropped.id, status: 'canceled' });
    const finish = () => people.ana.stories.updateStatus({ storyId: parent.id, status: 'done' });
    await expect(finish()).rejects.toMatchObject(missingProofDetails('reported'));
    await observeMergeAsForge('verified');
    expect((await people.ana.stories.get({ storyId: parent.id })).story.status).toBe('done');
    expect(await unblocked()).toEqual([key]);
  });

  it('lands in a group with a parent once its children are merged', async () => {
    await begin({ requireMergeProof: true, mergeProof: 'verified' });
    const { story: parent } = await people.ana.stories.create({ projectId, title: 'All', status: 'ready' });
    await people.ana.stories.update({ storyId, parentId: parent.id });
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId, name: 'Both', storyIds: [parent.id, storyId] },
    });
    const moveTo = (state: 'active' | 'in_review' | 'landed') =>
      people.ana.deliveryGroups.update({ groupId: group.id, state });
    await moveTo('active');
    await moveTo('in_review');
    await expect(moveTo('landed')).rejects.toMatchObject({
      body: { details: { unmet: [{ stories: [parent.key, 'WEB-1'] }] } },
    });
    await handIn();
    await observeMergeAsForge('verified');
    expect((await moveTo('landed')).group).toMatchObject({ progress: { landed: 2 } });
  });
});
