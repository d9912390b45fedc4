/** Signed deliveries from forges and their effect on executions. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { replayFacts, processDelivery } from '@muster/forges';
import { handlers, reactions, withInternalHandlers } from '@muster/operations';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import {
  type ForgeWithSecret,
  deliver,
  processDeliveries,
  secretCipher,
  signDelivery,
  environment,
  withGithub,
} from './forge-deliveries.ts';
import {
  acmeRepository,
  mergedEvent,
  pullEvent,
  type PullRequestExample,
  pullUrl,
  pushEvent,
  reviewEvent,
  timeAfterSeconds,
  shaOf,
  suiteEvent,
} from '@muster/testing/github';
import { openOutboxHarness, waitUntil } from './line.ts';
import { receiveDelivery } from '@muster/forges';

const world = useWorld(withInternalHandlers(handlers), reactions);
const a = shaOf('a');
const b = shaOf('b');

let people: PeopleOf<typeof world>;
let chloe: PersonOf<typeof world>;
let github: ForgeWithSecret;
let storyId: string;
let held: { executionId: string; leaseToken: string };
let life: PullRequestExample;

beforeEach(async () => {
  ({ people, github } = await withGithub(world, { url: 'https://github.com/Acme/API.git' }));
  ({ chloe } = people);
  const { story } = await people.ana.stories.create({
    projectId: 'WEB',
    title: 'Land',
    status: 'in_progress',
  });
  storyId = story.id;
  held = await acquire(storyId);
  life = {
    ...{ repository: acmeRepository, number: 7, branch: 'muster/web-1-e1-land', base: 'main' },
    ...{ title: 'Land it', body: null },
  };
});

async function acquire(targetId: string) {
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({ targetType: 'story', targetId });
  return { executionId: execution.id, leaseToken };
}
const handIn = (url = pullUrl(life)) =>
  chloe.deliveryExecutions.complete({
    ...held,
    outcome: 'submitted',
    pullRequest: { number: life.number, url },
  });
const send = (sent: Parameters<typeof deliver>[3], connection = github) =>
  deliver(world, people, connection, sent);
const executionNow = async () =>
  (await people.ana.deliveryExecutions.get({ executionId: held.executionId })).execution;
async function standing() {
  const { state, needsRework } = await executionNow();
  return [state, needsRework, (await people.ana.stories.get({ storyId })).story.status];
}

describe('the life of a pull request', () => {
  it('lands the story by the merge that GitHub signed, within a policy that believes no token', async () => {
    await send(pushEvent(life, a, 1));
    await send(pullEvent(life, 'opened', a, 1));
    await handIn();
    await send(suiteEvent(life, a, { app: 1, conclusion: 'success', seconds: 3 }));
    const merged = await send(mergedEvent(life, a, 5));
    expect(merged).toMatchObject({
      ...{ state: 'recorded', trust: 'verified' },
      outcome: [{ kind: 'pr_merged', executionId: held.executionId, result: 'recorded' }],
    });
    expect(await standing()).toEqual(['completed', false, 'done']);
    expect((await executionNow()).git).toMatchObject({
      ...{ branch: life.branch, headSha: a, checks: 'passing' },
      pullRequest: { number: 7, url: pullUrl(life), state: 'merged' },
    });
    const { items } = await people.ana.activity.list({ kinds: ['execution.observed'] });
    expect(new Set(items.map(({ actor }) => actor.name))).toEqual(new Set(['GitHub']));
  });

  it('asks for rework by failed checks, changes requested or a conflict, and no more after the next push', async () => {
    await send(pullEvent(life, 'opened', a, 1));
    await handIn();
    await send(reviewEvent(life, 'changes_requested', a, 2));
    expect(await standing()).toEqual(['submitted', true, 'in_review']);
    await send(pushEvent(life, b, 3));
    await send(reviewEvent(life, 'approved', b, 4));
    expect(await standing()).toEqual(['submitted', false, 'in_review']);
    await send(pullEvent(life, 'synchronize', b, 5, { mergeable_state: 'dirty' }));
    expect(await standing()).toEqual(['submitted', true, 'in_review']);
  });

  it('asks for rework until each reviewer who requested changes approves, or their review is dismissed', async () => {
    await send(pullEvent(life, 'opened', a, 1));
    await handIn();
    const review = (user: number, state: string, seconds: number) =>
      send(reviewEvent(life, state, a, seconds, user));
    await review(1, 'changes_requested', 2);
    await review(2, 'changes_requested', 2);
    await review(3, 'approved', 3);
    expect(await standing()).toEqual(['submitted', true, 'in_review']);
    await review(1, 'approved', 4);
    expect(await executionNow()).toMatchObject({
      needsRework: true,
      rework: { source: 'forge', at: timeAfterSeconds(2), headSha: a },
    });
    await review(2, 'dismissed', 2);
    expect(await executionNow()).toMatchObject({ needsRework: false, rework: null });
  });

  it('gives handed-in work back where it is closed without a merge', async () => {
    await handIn();
    await send(pullEvent(life, 'closed', a, 4, { closed_at: timeAfterSeconds(4) }));
    expect(await standing()).toEqual(['available', true, 'in_review']);
  });

  it('does not land what was merged elsewhere than where the work goes', async () => {
    await handIn();
    const { outcome } = await send(mergedEvent({ ...life, base: 'release/1' }, a, 4));
    expect(outcome).toMatchObject([
      { result: 'noted', reason: 'it targets release/1, but the work targets main' },
    ]);
    await chloe.stories.updateGitMeta({ storyId, git: { baseBranch: 'release/1' } });
    await send(mergedEvent({ ...life, base: 'release/1' }, b, 5));
    expect(await standing()).toEqual(['completed', false, 'done']);
  });
});

describe('the execution of a fact', () => {
  const named = async (more: Partial<PullRequestExample>) => {
    const { outcome } = await send(pullEvent({ ...life, branch: 'topic', ...more }, 'opened', a, 1));
    return outcome[0];
  };

  it('is that which a trailer names', async () => {
    const body = `Why not.\n\nMuster-Execution: ${held.executionId}`;
    expect(await named({ body })).toMatchObject({ result: 'recorded', executionId: held.executionId });
  });

  it('is not that which landed, and whose commits a push brings along from the default branch', async () => {
    await handIn();
    await send(mergedEvent(life, a, 4));
    const landed = await executionNow();
    const { story } = await people.ana.stories.create({
      projectId: 'WEB',
      title: 'Next',
      status: 'in_progress',
    });
    const { executionId } = await acquire(story.id);
    const next = { ...life, branch: 'muster/web-2-e1-next' };
    const { outcome } = await send(pushEvent(next, b, 6, `Land\n\nMuster-Execution: ${landed.id}`));
    expect(outcome).toMatchObject([{ result: 'recorded', executionId }]);
    expect((await executionNow()).git).toEqual(landed.git);
  });

  it('is not that which a stacked, release or queue branch has commits of', async () => {
    await send(pushEvent(life, a, 1));
    const { git } = await executionNow();
    const message = `Land\n\nMuster-Execution: ${held.executionId}`;
    for (const branch of ['feat-b', 'release/1', 'revert-7-topic', 'gh-readonly-queue/main/pr-7-f'])
      await send(pushEvent({ ...life, branch }, b, 3, message));
    expect((await executionNow()).git).toEqual(git);
    await send(pushEvent(life, b, 3, message));
    expect((await executionNow()).git?.headSha).toBe(b);
  });

  it('is not that which a pull request only shows, or which was handed in with another', async () => {
    const trailer = `Muster-Execution: ${held.executionId}`;
    const shown = { ...life, number: 41, branch: 'other' };
    const merged = async (body: string) => (await send(mergedEvent({ ...shown, body }, b, 5))).outcome[0];
    for (const body of [`\`\`\`\n${trailer}\n\`\`\``, `<!--\n${trailer}\n-->`, `    ${trailer}`])
      expect(await merged(body)).toMatchObject({ result: 'parked', executionId: null });
    await handIn();
    expect(await merged(trailer)).toMatchObject({
      reason: 'the work was submitted with another pull request',
    });
    expect(await standing()).toEqual(['submitted', false, 'in_review']);
  });

  it('is that of the branch of its epoch', async () => {
    const found = { result: 'recorded', executionId: held.executionId };
    expect(await named({ branch: 'muster/WEB-1-e1-x' })).toMatchObject(found);
    // These branches name another project or another story.
    for (const branch of ['muster/none-1-e1', 'muster/other-1-e1-x', 'muster/web-2-e1-x'])
      expect(await named({ branch })).toMatchObject({ result: 'parked' });
  });

  it('is that which was handed in with the pull request', async () => {
    await handIn();
    expect(await named({})).toMatchObject({ result: 'recorded', executionId: held.executionId });
  });

  it('is that whose branch it is', async () => {
    await chloe.deliveryExecutions.update({ ...held, git: { branch: 'topic' } });
    expect(await named({})).toMatchObject({ result: 'recorded', executionId: held.executionId });
  });

  it('is only linked by the key of its story, and never completed by it', async () => {
    const link = { ...life, branch: 'topic', title: 'web-1: land it' };
    expect(await named({ title: link.title })).toMatchObject({
      result: 'linked',
      executionId: held.executionId,
    });
    expect((await executionNow()).git?.pullRequest?.url).toBe(pullUrl(life));
    expect((await executionNow()).git?.headSha ?? null).toBeNull();
    await chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted' }).catch(() => undefined);
    const { outcome } = await send(mergedEvent(link, a, 5));
    expect(outcome).toMatchObject([{ result: 'noted', executionId: held.executionId }]);
    expect((await people.ana.stories.get({ storyId })).story.status).not.toBe('done');
  });

  it('is none where it could be several, which the delivery says', async () => {
    const { story } = await people.ana.stories.create({
      projectId: 'WEB',
      title: 'Other',
      status: 'in_progress',
    });
    const other = await acquire(story.id);
    for (const one of [held, other])
      await chloe.deliveryExecutions.update({ ...one, git: { branch: 'topic' } });
    const outcome = await named({});
    expect(outcome).toMatchObject({ result: 'noted', executionId: null });
    expect(outcome?.reason).toContain(other.executionId);
    for (const one of [held, other]) {
      const { signals } = await chloe.deliveryExecutions.renew(one);
      expect(signals.filter((signal) => signal.kind === 'forge')).toMatchObject([
        { data: { ambiguous: true, kind: 'pr_opened', number: 7, ref: 'topic' } },
      ]);
    }
  });

  it('is not that of a pull request from elsewhere that calls its branch so', async () => {
    const body = `Muster-Execution: ${held.executionId}`;
    const foreign = { headRepository: 99, branch: life.branch, body, title: 'WEB-1' };
    expect(await named(foreign)).toMatchObject({ result: 'parked', executionId: null });
    await handIn();
    // The work was submitted with a pull request of this branch, so facts about the branch belong to this
    // work.
    expect(await named(foreign)).toMatchObject({ result: 'repeated', executionId: held.executionId });
  });

  it('is not that of another pull request than was handed in', async () => {
    await handIn();
    const other = { ...life, number: 8 };
    const { outcome } = await send(pullEvent(other, 'closed', a, 3, { closed_at: timeAfterSeconds(3) }));
    expect(outcome).toMatchObject([
      { result: 'noted', reason: 'the work was submitted with another pull request' },
    ]);
    expect(await standing()).toEqual(['submitted', false, 'in_review']);
  });
});

describe('a fact that comes before its execution', () => {
  it('waits for it, and is recorded when it is handed in', async () => {
    const early = { ...life, branch: 'topic', number: 12 };
    expect((await send(pullEvent(early, 'opened', a, 1))).state).toBe('parked');
    expect((await send(mergedEvent(early, a, 4))).state).toBe('parked');
    await chloe.deliveryExecutions.complete({
      ...{ ...held, outcome: 'submitted' },
      pullRequest: { number: 12, url: pullUrl(early) },
    });
    await processDeliveries(world, people.orgId);
    expect(await standing()).toEqual(['completed', false, 'done']);
    expect(await world.rows('select id from forge_facts where org_id = $1', people.orgId)).toEqual([]);
  });

  it('waits once, however often it comes', async () => {
    const early = { ...life, branch: 'topic' };
    for (let index = 0; index < 3; index += 1) await send(pullEvent(early, 'opened', a, 1));
    expect(await world.rows('select id from forge_facts where org_id = $1', people.orgId)).toHaveLength(1);
  });
});

describe('nothing changes by', () => {
  it('a repository that is linked to no project', async () => {
    await handIn();
    const foreign = {
      ...acmeRepository,
      id: 1,
      html_url: 'https://github.com/evil/api',
      full_name: 'evil/api',
    };
    const { state, outcome } = await send(mergedEvent({ ...life, repository: foreign }, a, 5));
    expect([state, outcome[0]?.reason]).toEqual(['ignored', 'no project is linked to evil/api']);
    expect(await standing()).toEqual(['submitted', false, 'in_review']);
  });

  it('a delivery that was ignored, until it comes again with the same id', async () => {
    await handIn();
    const moved = {
      ...acmeRepository,
      id: 9,
      html_url: 'https://github.com/acme/moved',
      full_name: 'acme/moved',
    };
    const merged = { ...mergedEvent({ ...life, repository: moved, number: 9 }, a, 5), deliveryId: 'again' };
    expect((await send(merged)).state).toBe('ignored');
    await people.ana.forges.repositories.link({
      ...{ projectId: 'WEB', connectionId: github.id, url: moved.html_url },
    });
    expect((await send(merged)).outcome[0]?.reason).toBe('the work is in another repository');
  });

  it('a delivery that failed, until it comes again with the same id', async () => {
    await handIn();
    const broken = { event: 'pull_request', payload: { action: 'closed' }, deliveryId: 'again' };
    expect((await send(broken)).state).toBe('failed');
    const again = await send({ ...mergedEvent(life, a, 5), deliveryId: 'again' });
    expect([again.state, ...(await standing())]).toEqual(['recorded', 'completed', false, 'done']);
  });

  it('a delivery that comes again, by its id or by what it says', async () => {
    await handIn();
    const merged = mergedEvent(life, a, 5);
    await send({ ...merged, deliveryId: 'one' });
    const before = await people.ana.deliveryExecutions.eventsSince({ executionId: held.executionId });
    const { headers, body } = signDelivery(github, { ...merged, deliveryId: 'one' });
    const again = { connectionId: github.id, headers, body: Buffer.from(body) };
    expect(await receiveDelivery(world.database.app, secretCipher, again)).toMatchObject({ isNew: false });
    expect((await send(merged)).outcome).toMatchObject([{ result: 'repeated' }]);
    expect(await people.ana.deliveryExecutions.eventsSince({ executionId: held.executionId })).toEqual(
      before,
    );
  });

  it('what is not as the forge documents it', async () => {
    const { state, outcome } = await send({ event: 'pull_request', payload: { action: 'closed' } });
    expect([state, outcome[0]?.result]).toEqual(['failed', 'ignored']);
  });

  it('a body that nests too deep, which was kept before the hook refused such bodies', async () => {
    const { headers, body, deliveryId } = signDelivery(github, { event: 'push', payload: {} });
    await receiveDelivery(world.database.app, secretCipher, {
      ...{ connectionId: github.id, headers, body: Buffer.from(body) },
    });
    await world.rows(
      `update forge_deliveries set payload = repeat('[', 200000) || repeat(']', 200000)
       where org_id = $1 and delivery_id = $2`,
      ...[people.orgId, deliveryId],
    );
    await processDeliveries(world, people.orgId);
    const { items } = await people.ana.forges.deliveries.list({ connectionId: github.id, state: 'failed' });
    expect(items.find((item) => item.deliveryId === deliveryId)?.outcome[0]?.reason).toContain(
      'nested more than',
    );
  });
});

it('reads a delivery again when it is asked to, once its repository is linked', async () => {
  const other = {
    ...acmeRepository,
    id: 5,
    html_url: 'https://github.com/acme/other',
    full_name: 'acme/other',
  };
  const there = { ...life, repository: other };
  const { id, state } = await send(pullEvent(there, 'opened', a, 1));
  expect(state).toBe('ignored');
  await people.ana.forges.repositories.link({ projectId: 'WEB', connectionId: github.id, externalId: '5' });
  expect((await people.ana.forges.deliveries.redeliver({ deliveryId: id })).delivery.state).toBe('received');
  await processDeliveries(world, people.orgId);
  const { items } = await people.ana.forges.deliveries.list({ connectionId: github.id, state: 'recorded' });
  expect(items.map((item) => item.id)).toEqual([id]);
  const { items: linked } = await people.ana.forges.repositories.list({ projectId: 'WEB' });
  expect(linked.map(({ fullName, defaultBranch }) => [fullName, defaultBranch])).toContainEqual([
    'acme/other',
    'main',
  ]);
});

it('goes from the delivery through the outbox and the queue to the story', async () => {
  await handIn();
  const line = openOutboxHarness(world);
  try {
    line.startWorkers({
      'forge.translate': async ({ db, orgId, payload }) => {
        await processDelivery({ db, orgId, environment }, payload.deliveryId);
        return undefined;
      },
      'forge.replay': async ({ db, orgId, payload }) => {
        await replayFacts({ db, orgId, environment }, payload.executionId);
        return undefined;
      },
    });
    const { headers, body } = signDelivery(github, mergedEvent(life, a, 5));
    await receiveDelivery(world.database.app, secretCipher, {
      ...{ connectionId: github.id, headers, body: Buffer.from(body) },
    });
    await waitUntil(async () => {
      await line.runRelayTurn();
      return (await standing())[0] === 'completed';
    });
  } finally {
    await line.close();
  }
  expect(await standing()).toEqual(['completed', false, 'done']);
});

it('fails a delivery that no attempt could process, and says so on the connection', async () => {
  const { headers, body } = signDelivery(github, mergedEvent(life, a, 5));
  await receiveDelivery(world.database.app, secretCipher, {
    ...{ connectionId: github.id, headers, body: Buffer.from(body) },
  });
  const line = openOutboxHarness(world);
  try {
    await world.rows(
      `update outbox set attempts = 12 where org_id = $1 and topic = 'forge.translate'`,
      people.orgId,
    );
    await waitUntil(async () => {
      await line.runRelayTurn();
      return line.dead.length > 0;
    });
  } finally {
    await line.close();
  }
  const { items } = await people.ana.forges.deliveries.list({ connectionId: github.id });
  expect(items).toMatchObject([{ state: 'failed', outcome: [{ reason: 'processing failed' }] }]);
  expect((await people.ana.forges.get({ connectionId: github.id })).connection).toMatchObject({
    ...{ state: 'failing', lastError: { doing: 'receive' } },
  });
  expect((await people.ana.notifications.list({ kinds: ['forge_failing'] })).items).toHaveLength(1);
});

it('takes nothing of a connection that was disconnected, and knows nothing of it', async () => {
  const { headers, body } = signDelivery(github, mergedEvent(life, a, 5));
  const delivered = { connectionId: github.id, headers, body: Buffer.from(body) };
  await receiveDelivery(world.database.app, secretCipher, delivered);
  await people.ana.forges.disconnect({ connectionId: github.id });
  await expect(receiveDelivery(world.database.app, secretCipher, delivered)).rejects.toMatchObject({
    status: 404,
  });
  await processDeliveries(world, people.orgId);
  expect((await people.ana.forges.list({})).items).toEqual([]);
  await expect(people.ana.forges.get({ connectionId: github.id })).rejects.toMatchObject({ status: 404 });
  expect((await people.ana.forges.repositories.list({ projectId: 'WEB' })).items).toEqual([]);
});

it('does not hold up its transaction for an organization that is being deleted', async () => {
  await inOrganizationAsSystem(world.database.app, people.orgId, (db) =>
    processDelivery({ db, orgId: people.orgId, environment }, held.executionId),
  );
  expect(await standing()).toEqual(['leased', false, 'in_progress']);
});
