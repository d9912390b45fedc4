/** Conversion of a forge API's answers about checks to the deliveries that the forge would have sent. */
import { type ForgeKind } from '@muster/contract';
import { z } from 'zod';
import { type NamedRepository } from './fact.ts';
import { polledRunEvent } from './gitea.ts';

/** A delivery that was created from an answer. */
export interface CheckDelivery {
  readonly event: string;
  readonly payload: unknown;
}

/**
 * A request for the checks of a commit: the path below the repository's URL, and the function that reads the
 * answer. `read` throws a ZodError for an invalid answer.
 */
export interface ChecksRequest {
  readonly path: string;
  readonly read: (answer: unknown, repository: NamedRepository) => CheckDelivery[];
}

const repositoryPayload = ({ externalId, url, fullName, defaultBranch }: NamedRepository) => ({
  ...{ id: Number(externalId), html_url: url, full_name: fullName, default_branch: defaultBranch },
});
const projectPayload = ({ externalId, url, fullName, defaultBranch }: NamedRepository) => ({
  ...{ id: Number(externalId), web_url: url, path_with_namespace: fullName, default_branch: defaultBranch },
});

const RunAnswer = z.looseObject({ status: z.string().nullish(), conclusion: z.string().nullish() });
const deliveryActionOf = ({ conclusion }: z.infer<typeof RunAnswer>): string =>
  conclusion == null ? 'requested' : 'completed';

const SuitesAnswer = z.object({
  check_suites: z.array(RunAnswer.extend({ latest_check_runs_count: z.int().nullish() })),
});
/**
 * GitHub creates a check suite for each installed app, even if the app never runs anything in it. Such empty
 * suites are ignored.
 */
const checkSuitesRequest = (sha: string): ChecksRequest => ({
  path: `/commits/${sha}/check-suites?per_page=100`,
  read: (answer, repository) =>
    SuitesAnswer.parse(answer)
      .check_suites.filter((suite) => suite.conclusion != null || (suite.latest_check_runs_count ?? 0) > 0)
      .map((suite) => ({
        event: 'check_suite',
        payload: {
          action: deliveryActionOf(suite),
          check_suite: suite,
          repository: repositoryPayload(repository),
        },
      })),
});

const RunsAnswer = z.object({ workflow_runs: z.array(RunAnswer) });
const workflowRunsRequest = (sha: string): ChecksRequest => ({
  path: `/actions/runs?head_sha=${sha}&per_page=100`,
  read: (answer, repository) =>
    RunsAnswer.parse(answer).workflow_runs.map((run) => ({
      event: 'workflow_run',
      payload: {
        action: deliveryActionOf(run),
        workflow_run: run,
        repository: repositoryPayload(repository),
      },
    })),
});

/** Forgejo's answer has the format of its own events. */
const actionRunsRequest = (sha: string): ChecksRequest => ({
  path: `/actions/runs?head_sha=${sha}&limit=50`,
  read: (answer, repository) =>
    RunsAnswer.parse(answer)
      .workflow_runs.filter((run) => run['commit_sha'] === sha)
      .map((run) => ({
        event: polledRunEvent,
        payload: { run: { ...run, repository: repositoryPayload(repository) } },
      })),
});

/** The commit statuses. Gitea and Forgejo call the state `status`. */
const StatusesAnswer = z.object({
  statuses: z.array(z.looseObject({ state: z.string().optional(), status: z.string().optional() })).nullish(),
});
const statusesRequest = (sha: string): ChecksRequest => ({
  path: `/commits/${sha}/status?per_page=100`,
  read: (answer, repository) =>
    (StatusesAnswer.parse(answer).statuses ?? []).map((status) => ({
      event: 'status',
      payload: {
        ...{ ...status, sha, state: status.state ?? status.status },
        repository: repositoryPayload(repository),
      },
    })),
});

const PipelinesAnswer = z.array(
  z.object({
    id: z.int(),
    ref: z.string().nullish(),
    sha: z.string(),
    status: z.string(),
    source: z.string().nullish(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);
const finalPipelineStates: ReadonlySet<string> = new Set(['success', 'failed', 'canceled', 'skipped']);
const pipelineDelivery = (
  { updated_at: at, ...pipeline }: z.infer<typeof PipelinesAnswer>[number],
  repository: NamedRepository,
): CheckDelivery => ({
  event: 'Pipeline Hook',
  payload: {
    project: projectPayload(repository),
    object_attributes: { ...pipeline, finished_at: finalPipelineStates.has(pipeline.status) ? at : null },
  },
});
const pipelinesRequest = (sha: string): ChecksRequest => ({
  path: `/pipelines?sha=${sha}&per_page=100`,
  read: (answer, repository) =>
    PipelinesAnswer.parse(answer).map((pipeline) => pipelineDelivery(pipeline, repository)),
});
/**
 * The request for the pipelines of a merge request. A pipeline of a trial merge runs on a commit that is not
 * the head. It counts for the head as long as it is the newest pipeline.
 */
const trialPipelinesRequest = (_sha: string, number: number): ChecksRequest => ({
  path: `/merge_requests/${number}/pipelines?per_page=100`,
  read: (answer, repository) => {
    const [newest] = PipelinesAnswer.parse(answer).toSorted((a, b) => b.id - a.id);
    const isTrial = /^refs\/merge-requests\/\d+\/(?:merge|train)$/.test(newest?.ref ?? '');
    return newest !== undefined && isTrial ? [pipelineDelivery(newest, repository)] : [];
  },
});

const checksRequestsByForge: Readonly<
  Record<ForgeKind, readonly ((sha: string, number: number) => ChecksRequest)[]>
> = {
  github: [checkSuitesRequest, workflowRunsRequest, statusesRequest],
  gitlab: [trialPipelinesRequest, pipelinesRequest],
  gitea: [workflowRunsRequest, statusesRequest],
  forgejo: [actionRunsRequest, statusesRequest],
};

/** Returns the requests for the checks of a pull request's head. */
export const createChecksRequests = (
  kind: ForgeKind,
  sha: string,
  number: number,
): readonly ChecksRequest[] =>
  checksRequestsByForge[kind].map((question) => question(encodeURIComponent(sha), number));
