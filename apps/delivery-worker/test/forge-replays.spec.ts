/**
 * Tests stored facts that had no execution yet. They are read again when the branch or the pull request of an
 * execution becomes known.
 */
import { describe, expect, it } from '@jest/globals';
import { pullEvent, pullUrl, reviewEvent, shaOf } from '@muster/testing/github';
import { pullRequest, useForgeFixture } from './asked-forge.ts';
import { deliver } from './forge-deliveries.ts';

const { world, now, start, handIn, settle, executionNow } = useForgeFixture();
const a = shaOf('a');

const opened = (branch = pullRequest.branch) => pullEvent({ ...pullRequest, branch }, 'opened', a, 1);
const receiveOpened = async (branch?: string) =>
  (await deliver(world, now.people, now.connection, opened(branch))).outcome.map(({ result }) => result);
const topics = async () => (await now.jobs.listPending(now.people.orgId)).map(({ topic }) => topic);
const lease = () => now.people.chloe.deliveryExecutions;

describe('a fact that came before its work was known is recorded', () => {
  const isRecorded = async () => (await executionNow()).git?.pullRequest?.url === pullUrl(pullRequest);

  it('once the branch is told', async () => {
    await start();
    expect(await receiveOpened()).toEqual(['parked']);
    await lease().update({ ...now.held, git: { branch: pullRequest.branch } });
    await settle();
    expect(await isRecorded()).toBe(true);
  });

  it('once the work is handed in with the pull request', async () => {
    await start();
    expect(await receiveOpened()).toEqual(['parked']);
    await handIn();
    await settle();
    expect((await executionNow()).git?.headSha).toBe(a);
  });

  it('once the work is acquired whose branch it names', async () => {
    await start();
    await lease().release(now.held);
    // The branch names the key of the story, so the pull request is linked. The branch also names the second
    // epoch, which no execution has acquired yet.
    expect(await receiveOpened('muster/web-1-e2-land')).toEqual(['linked']);
    expect((await executionNow()).git?.headSha).toBeNull();
    await lease().acquire({ targetType: 'story', targetId: now.storyId });
    await settle();
    expect((await executionNow()).git?.headSha).toBe(a);
  });
});

describe('several facts that came before their work was known', () => {
  it('are all recorded, each on top of the earlier ones', async () => {
    await start();
    const requested = reviewEvent(pullRequest, 'changes_requested', a, 2, 7);
    const approved = reviewEvent(pullRequest, 'approved', a, 3, 8);
    for (const delivery of [opened(), requested, approved]) {
      const { outcome } = await deliver(world, now.people, now.connection, delivery);
      expect(outcome.map(({ result }) => result)).toEqual(['parked']);
    }
    await handIn();
    await settle();
    // A reviewer's approval does not cancel the changes that another reviewer requested.
    expect((await executionNow()).needsRework).toBe(true);
  });
});

describe('a look is asked for', () => {
  it('also while nothing waits: a fact that is read at the moment may be put aside after that', async () => {
    await start();
    await settle();
    await lease().update({ ...now.held, git: { branch: pullRequest.branch } });
    expect(await topics()).toContain('forge.replay');
  });

  it('only where the branch or the pull request may be another', async () => {
    await start();
    await settle();
    await lease().update({ ...now.held, phase: 'testing' });
    await lease().renew(now.held);
    expect(await topics()).not.toContain('forge.replay');
  });

  it('in no project without a repository', async () => {
    await start();
    await settle();
    await now.people.ana.projects.create({ key: 'OPS', name: 'Ops' });
    const { story } = await now.people.ana.stories.create({ projectId: 'OPS', title: 'Land' });
    await now.people.ana.stories.updateStatus({ storyId: story.id, status: 'in_progress' });
    await lease().acquire({ targetType: 'story', targetId: story.id });
    expect(await topics()).not.toContain('forge.replay');
  });
});
