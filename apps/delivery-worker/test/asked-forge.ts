/** Sets up work with an open pull request at a fake forge that the worker can call. */
import { afterEach, beforeEach } from '@jest/globals';
import { type AllHandlers, handlers, reactions, withInternalHandlers } from '@muster/operations';
import { type ForgeKind } from '@muster/contract';
import { type People, useWorld } from '@muster/testing';
import {
  acmeRepository,
  pullEvent,
  type PullRequestExample,
  pullUrl,
  timeAfterSeconds,
  shaOf,
} from '@muster/testing/github';
import { type ForgeWithSecret, deliver } from './forge-deliveries.ts';
import { type ForgeJobs, openForgeJobs } from './forge-jobs.ts';
import { type ForgeServer, openForge, replyWith } from './forge-server.ts';

const a = shaOf('a');
export const pullRequest: PullRequestExample = {
  ...{ repository: acmeRepository, number: 7, branch: 'topic', base: 'main', title: 'Land it', body: null },
};
/** Returns the API response of GitHub, Gitea and Forgejo for the pull request of a delivery. */
export const forgePullAnswer = ({ payload }: ReturnType<typeof pullEvent>, state: 'open' | 'closed') => ({
  ...{ ...payload.pull_request, state },
  base: { ...payload.pull_request.base, repo: acmeRepository },
});

export const mergeUrl = `${acmeRepository.html_url}/-/merge_requests/7`;
export const mergeRequest = {
  ...{ iid: 7, title: 'Land it', description: null, source_branch: 'topic', target_branch: 'main' },
  ...{ source_project_id: acmeRepository.id, target_project_id: acmeRepository.id },
  ...{ created_at: timeAfterSeconds(1), updated_at: timeAfterSeconds(1) },
};
const openedMergeEvent = {
  event: 'Merge Request Hook',
  payload: {
    project: {
      ...{ id: acmeRepository.id, web_url: acmeRepository.html_url },
      ...{ path_with_namespace: 'acme/api', default_branch: 'main' },
    },
    object_attributes: { ...mergeRequest, url: mergeUrl, action: 'open', last_commit: { id: a } },
  },
};

export const isPull = (path: string): boolean => /\/(pulls|merge_requests)\/7$/.test(path);

type Credentials = Parameters<People<AllHandlers>['ana']['forges']['connect']>[0]['credentials'];

interface Now {
  people: People<AllHandlers>;
  forge: ForgeServer;
  jobs: ForgeJobs;
  connection: ForgeWithSecret;
  storyId: string;
  held: { executionId: string; leaseToken: string };
}

export function useForgeFixture() {
  const world = useWorld(withInternalHandlers(handlers), reactions);
  const now = {} as Now;
  beforeEach(async () => {
    now.forge = await openForge();
    now.jobs = openForgeJobs(world);
    now.people = await world.org({ policy: { requireMergeProof: true, mergeProof: 'verified' } });
    await now.people.ana.projects.create({ key: 'WEB', name: 'Web' });
  });
  afterEach(async () => {
    now.jobs.close();
    await now.forge.close();
  });

  /** Connects the forge, links its repository and acquires a story. */
  const start = async (kind: ForgeKind = 'github', credentials: Credentials | null = { token: 't' }) => {
    const { ana, chloe } = now.people;
    const { connection: made, setup } = await ana.forges.connect({
      ...{ kind, baseUrl: now.forge.url },
      ...(credentials !== null && { credentials }),
    });
    now.connection = { id: made.id, kind, secret: setup.secret };
    await ana.forges.repositories.link({
      ...{ projectId: 'WEB', connectionId: made.id, externalId: String(acmeRepository.id) },
    });
    const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Land', status: 'in_progress' });
    now.storyId = story.id;
    const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: story.id },
    });
    now.held = { executionId: execution.id, leaseToken };
  };
  const handIn = (url = pullUrl(pullRequest)) =>
    now.people.chloe.deliveryExecutions.complete({
      ...{ ...now.held, outcome: 'submitted', pullRequest: { number: 7, url } },
    });
  const beQuiet = (minutes = 60) =>
    world.rows(
      `update forge_pulls set heard_at = now() - make_interval(mins => $2) where org_id = $1`,
      now.people.orgId,
      minutes,
    );
  const settle = () => now.jobs.settle(now.people.orgId);
  /**
   * Creates work that was submitted with an open pull request. The forge has sent no delivery about it for an
   * hour.
   */
  const begin = async (kind: ForgeKind = 'github', credentials: Credentials | null = { token: 't' }) => {
    await start(kind, credentials);
    await handIn(kind === 'gitlab' ? mergeUrl : pullUrl(pullRequest));
    const opened = kind === 'gitlab' ? openedMergeEvent : pullEvent(pullRequest, 'opened', a, 1);
    await deliver(world, now.people, now.connection, opened);
    await settle();
    now.forge.asked.length = 0;
    await beQuiet();
  };
  const gets = () => now.forge.asked.filter(({ method }) => method === 'GET');
  return {
    ...{ world, now, start, handIn, begin, beQuiet, settle, gets },
    turn: async () => {
      await now.jobs.reconcile();
      await settle();
    },
    /** Lists the requests for the pull request itself. */
    asked: () => gets().filter(({ path }) => isPull(path)),
    executionNow: async () =>
      (await now.people.ana.deliveryExecutions.get({ executionId: now.held.executionId })).execution,
    deliveries: async () =>
      (await now.people.ana.forges.deliveries.list({ connectionId: now.connection.id })).items,
    /**
     * Sets the forge's answers. A GET request for the pull request gets `json`, and a GET request whose path
     * ends with a key of `checks` gets that entry. Any other GET request is refused. Requests with other
     * methods get `made`.
     */
    answers: (
      json: unknown,
      headers: Record<string, string> = {},
      checks: Readonly<Record<string, unknown>> = {},
      made: unknown = {},
    ) =>
      now.forge.answer(({ method, path }, response) => {
        const found = Object.keys(checks).find((end) => path.split('?')[0]?.endsWith(end));
        if (method !== 'GET') replyWith(response, 201, made);
        else if (isPull(path)) replyWith(response, 200, json, headers);
        else if (found !== undefined) replyWith(response, 200, checks[found]);
        else replyWith(response, 403, { message: 'Resource not accessible by integration' });
      }),
  };
}
