/** The combined result of a head's checks, computed from the forges' deliveries. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { handlers, reactions, withInternalHandlers } from '@muster/operations';
import { type ForgeKind } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import {
  acmeRepository,
  pullEvent,
  type PullRequestExample,
  pullUrl,
  timeAfterSeconds,
  shaOf,
  suiteEvent,
} from '@muster/testing/github';
import { connect, type ForgeWithSecret, deliver } from './forge-deliveries.ts';

const world = useWorld(withInternalHandlers(handlers), reactions);
const [a, b] = [shaOf('a'), shaOf('b')];
const life: PullRequestExample = {
  ...{ repository: acmeRepository, number: 7, branch: 'topic', base: 'main', title: 'Land it', body: null },
};

let people: PeopleOf<typeof world>;
let connection: ForgeWithSecret;
let executionId: string;

/** Creates work that was submitted with a forge's pull request. */
async function begin(kind: ForgeKind, url: string): Promise<void> {
  people = await world.org({});
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  connection = await connect(people, kind);
  await people.ana.forges.repositories.link({
    ...{ projectId: 'WEB', connectionId: connection.id, externalId: String(acmeRepository.id) },
  });
  const { story } = await people.ana.stories.create({
    projectId: 'WEB',
    title: 'Land',
    status: 'in_progress',
  });
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story.id },
  });
  executionId = execution.id;
  await people.chloe.deliveryExecutions.complete({
    ...{ executionId, leaseToken, outcome: 'submitted', pullRequest: { number: 7, url } },
  });
}
const send = (sent: Parameters<typeof deliver>[3]) => deliver(world, people, connection, sent);
const executionNow = async () => (await people.ana.deliveryExecutions.get({ executionId })).execution;
const readStates = async () => {
  const { state, needsRework } = await executionNow();
  return [state, needsRework];
};
const checks = async () => (await executionNow()).git?.checks;

describe('the checks of a head', () => {
  beforeEach(async () => {
    await begin('github', pullUrl(life));
    await send(pullEvent(life, 'opened', a, 1));
  });

  it('have passed when all have, and failed when one has', async () => {
    await send(suiteEvent(life, a, { app: 1, conclusion: null, seconds: 2 }));
    await send(suiteEvent(life, a, { app: 2, conclusion: 'success', seconds: 3 }));
    expect(await checks()).toBeNull();
    await send(suiteEvent(life, a, { app: 1, conclusion: 'failure', seconds: 4 }));
    expect(await checks()).toBe('failing');
    expect(await readStates()).toEqual(['submitted', true]);
    await send(suiteEvent(life, a, { app: 1, conclusion: 'success', seconds: 6 }));
    expect(await checks()).toBe('passing');
  });

  it('of an older head say nothing, and those that came before their head wait for it', async () => {
    await send(suiteEvent(life, b, { app: 1, conclusion: 'success', seconds: 3 }));
    expect(await checks()).toBeNull();
    await send(pullEvent(life, 'synchronize', b, 4));
    expect(await checks()).toBe('passing');
    await send(suiteEvent(life, a, { app: 1, conclusion: 'failure', seconds: 9 }));
    expect(await checks()).toBe('passing');
  });

  it('fail while one run has failed, whatever passes after it, until it is run again', async () => {
    const run = (id: number, event: string, conclusion: string, seconds: number) => ({
      event: 'workflow_run',
      payload: {
        action: 'completed',
        workflow_run: {
          ...{ id, run_number: id, workflow_id: 1, event, check_suite_id: id + 1_000 },
          ...{ head_sha: a, conclusion, updated_at: timeAfterSeconds(seconds) },
        },
        repository: acmeRepository,
      },
    });
    await send(run(101, 'push', 'failure', 2));
    await send(run(102, 'pull_request', 'success', 3));
    expect(await checks()).toBe('failing');
    await send(run(101, 'push', 'success', 5));
    expect(await checks()).toBe('passing');
  });

  it("do not have Muster's own status among them", async () => {
    const own = {
      sha: a,
      context: 'muster',
      state: 'failure',
      updated_at: timeAfterSeconds(5),
      repository: acmeRepository,
    };
    expect((await send({ event: 'status', payload: own })).state).toBe('ignored');
    expect(await checks()).toBeNull();
  });
});

describe('a pipeline of a trial merge', () => {
  const project = {
    ...{
      id: acmeRepository.id,
      web_url: acmeRepository.html_url,
      path_with_namespace: 'acme/api',
      default_branch: 'main',
    },
  };
  const url = `${acmeRepository.html_url}/-/merge_requests/7`;
  const opened = {
    event: 'Merge Request Hook',
    payload: {
      project,
      object_attributes: {
        ...{ iid: 7, title: 'Land it', source_branch: 'topic', target_branch: 'main', url, action: 'open' },
        ...{
          source_project_id: acmeRepository.id,
          target_project_id: acmeRepository.id,
          last_commit: { id: a },
        },
        ...{ created_at: '2026-11-21 10:00:01 +0100', updated_at: '2026-11-21 10:00:01 +0100' },
      },
    },
  };
  const pipeline = (id: number, status: string) => ({
    event: 'Pipeline Hook',
    payload: {
      ...{ project, merge_request: { iid: 7, target_project_id: acmeRepository.id } },
      object_attributes: {
        ...{ id, sha: shaOf('e'), ref: 'topic', source: 'merge_request_event', status },
        ...{ created_at: timeAfterSeconds(3), finished_at: timeAfterSeconds(id) },
      },
    },
  });

  it('is about the head of its merge request, until a newer one', async () => {
    await begin('gitlab', url);
    await send(opened);
    await send(pipeline(6, 'failed'));
    expect(await checks()).toBe('failing');
    await send(pipeline(8, 'success'));
    expect(await checks()).toBe('passing');
  });
});
