/** Conversion of a forge API's answers about checks to the deliveries that the forge would have sent. */
import { type ForgeKind } from '@muster/registry';
import { z } from 'zod';
import { type NamedRepository } from './fact.ts';
import { askedRun } from './gitea.ts';

/** A delivery that was created from an answer. */
export interface CheckDelivery {
  readonly event: string;
  readonly payload: unknown;
}

/**
 * A request for the checks of a commit: the path below the repository's URL, and the function that reads the
 * answer. `read` throws a ZodError for an invalid answer.
 */
export interface ChecksQuestion {
  readonly path: string;
  readonly read: (answer: unknown, repository: NamedRepository) => CheckDelivery[];
}

const repositoryOf = ({ externalId, url, fullName, defaultBranch }: NamedRepository) => ({
  ...{ id: Number(externalId), html_url: url, full_name: fullName, default_branch: defaultBranch },
});
const projectOf = ({ externalId, url, fullName, defaultBranch }: NamedRepository) => ({
  ...{ id: Number(externalId), web_url: url, path_with_namespace: fullName, default_branch: defaultBranch },
});

const Run = z.looseObject({ status: z.string().nullish(), conclusion: z.string().nullish() });
const actionOf = ({ conclusion }: z.infer<typeof Run>): string =>
  conclusion == null ? 'requested' : 'completed';

const Suites = z.object({
  check_suites: z.array(Run.extend({ latest_check_runs_count: z.int().nullish() })),
});
/**
 * GitHub creates a check suite for each installed app, even if the app never runs anything in it. Such empty
 * suites are ignored.
 */
const suites = (sha: string): ChecksQuestion => ({
  path: `/commits/${sha}/check-suites?per_page=100`,
  read: (answer, repository) =>
    Suites.parse(answer)
      .check_suites.filter((suite) => suite.conclusion != null || (suite.latest_check_runs_count ?? 0) > 0)
      .map((suite) => ({
        event: 'check_suite',
        payload: { action: actionOf(suite), check_suite: suite, repository: repositoryOf(repository) },
      })),
});

const Runs = z.object({ workflow_runs: z.array(Run) });
const workflowRuns = (sha: string): ChecksQuestion => ({
  path: `/actions/runs?head_sha=${sha}&per_page=100`,
  read: (answer, repository) =>
    Runs.parse(answer).workflow_runs.map((run) => ({
      event: 'workflow_run',
      payload: { action: actionOf(run), workflow_run: run, repository: repositoryOf(repository) },
    })),
});

/** Forgejo's answer has the format of its own events. */
const actionRuns = (sha: string): ChecksQuestion => ({
  path: `/actions/runs?head_sha=${sha}&limit=50`,
  read: (answer, repository) =>
    Runs.parse(answer)
      .workflow_runs.filter((run) => run['commit_sha'] === sha)
      .map((run) => ({
        event: askedRun,
        payload: { run: { ...run, repository: repositoryOf(repository) } },
      })),
});

/** The commit statuses. Gitea and Forgejo call the state `status`. */
const Statuses = z.object({
  statuses: z.array(z.looseObject({ state: z.string().optional(), status: z.string().optional() })).nullish(),
});
const statuses = (sha: string): ChecksQuestion => ({
  path: `/commits/${sha}/status?per_page=100`,
  read: (answer, repository) =>
    (Statuses.parse(answer).statuses ?? []).map((status) => ({
      event: 'status',
      payload: {
        ...{ ...status, sha, state: status.state ?? status.status },
        repository: repositoryOf(repository),
      },
    })),
});

const Pipelines = z.array(
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
const overStates: ReadonlySet<string> = new Set(['success', 'failed', 'canceled', 'skipped']);
const pipelineDelivery = (
  { updated_at: at, ...pipeline }: z.infer<typeof Pipelines>[number],
  repository: NamedRepository,
): CheckDelivery => ({
  event: 'Pipeline Hook',
  payload: {
    project: projectOf(repository),
    object_attributes: { ...pipeline, finished_at: overStates.has(pipeline.status) ? at : null },
  },
});
const pipelines = (sha: string): ChecksQuestion => ({
  path: `/pipelines?sha=${sha}&per_page=100`,
  read: (answer, repository) =>
    Pipelines.parse(answer).map((pipeline) => pipelineDelivery(pipeline, repository)),
});
/**
 * The request for the pipelines of a merge request. A pipeline of a trial merge runs on a commit that is not
 * the head. It counts for the head as long as it is the newest pipeline.
 */
const trialPipelines = (_sha: string, number: number): ChecksQuestion => ({
  path: `/merge_requests/${number}/pipelines?per_page=100`,
  read: (answer, repository) => {
    const [newest] = Pipelines.parse(answer).toSorted((a, b) => b.id - a.id);
    const isTrial = /^refs\/merge-requests\/\d+\/(?:merge|train)$/.test(newest?.ref ?? '');
    return newest !== undefined && isTrial ? [pipelineDelivery(newest, repository)] : [];
  },
});

const questions: Readonly<Record<ForgeKind, readonly ((sha: string, number: number) => ChecksQuestion)[]>> = {
  github: [suites, workflowRuns, statuses],
  gitlab: [trialPipelines, pipelines],
  gitea: [workflowRuns, statuses],
  forgejo: [actionRuns, statuses],
};

/** Returns the requests for the checks of a pull request's head. */
export const checksQuestions = (kind: ForgeKind, sha: string, number: number): readonly ChecksQuestion[] =>
  questions[kind].map((question) => question(encodeURIComponent(sha), number));
