/** Reads the event that started a pipeline from the environment variables of its forge. */
import { readFile } from 'node:fs/promises';
import {
  collectsOtherWork,
  type DeliveryFact,
  isMergeQueueBranch,
  readDelivery,
  trailersOfCommits,
  trailersOfPull,
  zeroShaToNull,
} from '@muster/forges/reading';
import { z } from 'zod';
import { UsageError } from '@muster/terminal';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
export type ChecksResult = 'passed' | 'failed';

export interface Pipeline {
  /** The URL of the repository whose branches and pull requests the facts name. */
  readonly repository: string;
  readonly facts: readonly DeliveryFact[];
  /**
   * The checked commit, with the data that identifies the work. Undefined if the pipeline checks no branch.
   */
  readonly checkedHead: DeliveryFact | undefined;
  /** The result of the checks, if the event that started the pipeline reports it. */
  readonly checksResult: ChecksResult | undefined;
  /** The unique id of this run of the pipeline. */
  readonly runId: string;
  /** The reason why the event has nothing to report. */
  readonly ignoredReason: string | undefined;
}

const requireVariable = (environment: EnvironmentVariables, name: string): string => {
  const value = environment[name];
  if (value === undefined || value === '') throw new UsageError(`the pipeline has no ${name}`);
  return value;
};
const optionalVariable = (environment: EnvironmentVariables, name: string): string | null =>
  environment[name]?.trim() || null;

const emptyFact: Omit<DeliveryFact, 'kind' | 'at' | 'branch' | 'sha'> = {
  ...{ before: null, number: null, url: null, title: null, base: null, defaultBranch: null },
  ...{ isForeign: false, trailers: [], reviewer: null },
};

const nowIso = (): string => new Date().toISOString();

const WorkflowRunPayload = z.object({
  workflow_run: z.object({
    id: z.int(),
    head_branch: z.string().nullish(),
    head_sha: z.string(),
    head_repository: z.object({ id: z.int() }).nullish(),
    head_commit: z.object({ message: z.string() }).nullish(),
  }),
  repository: z.object({ id: z.int(), default_branch: z.string().nullish() }),
});

/** Returns a pipeline that has nothing to report. */
const ignoredPipeline = (repository: string, runId: string, ignoredReason: string): Pipeline => ({
  ...{ repository, facts: [], checkedHead: undefined, checksResult: undefined, runId, ignoredReason },
});

/** Returns the checked head for a GitHub workflow that was triggered by the end of another workflow. */
function checkedHeadOf(payload: unknown): DeliveryFact | undefined {
  const { workflow_run: run, repository } = WorkflowRunPayload.parse(payload);
  const { head_branch: branch } = run;
  if (branch == null || branch === repository.default_branch || isMergeQueueBranch(branch)) return undefined;
  return {
    ...emptyFact,
    ...{ kind: 'checks_passed', at: nowIso(), branch, sha: run.head_sha },
    isForeign: run.head_repository?.id !== repository.id,
    trailers: collectsOtherWork(branch) ? [] : trailersOfCommits([run.head_commit?.message]),
  };
}

/** Reads a GitHub event. GitHub gives a workflow the same payload that it delivers to webhooks. */
async function readGithubPipeline(environment: EnvironmentVariables): Promise<Pipeline> {
  const event = requireVariable(environment, 'GITHUB_EVENT_NAME');
  const file = requireVariable(environment, 'GITHUB_EVENT_PATH');
  const payload: unknown = JSON.parse(await readFile(file, 'utf8'));
  // The event pull_request_target has the same payload as pull_request, and its workflow gets the secrets of
  // the target repository.
  const name = event === 'pull_request_target' ? 'pull_request' : event;
  const reading = readDelivery('github', name, payload);
  const repository = requireVariable(environment, 'GITHUB_REPOSITORY');
  const run = [
    ...[repository, requireVariable(environment, 'GITHUB_RUN_ID')],
    optionalVariable(environment, 'GITHUB_RUN_ATTEMPT') ?? '1',
    optionalVariable(environment, 'GITHUB_JOB') ?? '',
  ].join(' ');
  const serverUrl = optionalVariable(environment, 'GITHUB_SERVER_URL') ?? 'https://github.com';
  const url = `${serverUrl}/${repository}`;
  if ('ignored' in reading) return ignoredPipeline(url, run, reading.ignored);
  const [fact] = reading.facts;
  const [check] = reading.checks;
  const told = check?.state === 'pending' ? undefined : check?.state;
  const checked =
    name === 'workflow_run' ? checkedHeadOf(payload) : fact?.kind === 'pr_merged' ? undefined : fact;
  return {
    repository: url,
    facts: reading.facts,
    checkedHead: checked,
    checksResult: told,
    runId: run,
    ignoredReason: undefined,
  };
}

function readGitlabPipeline(environment: EnvironmentVariables): Pipeline {
  const repository = requireVariable(environment, 'CI_PROJECT_URL');
  const run = `${repository} ${requireVariable(environment, 'CI_PIPELINE_ID')}`;
  const at = new Date(optionalVariable(environment, 'CI_PIPELINE_CREATED_AT') ?? nowIso()).toISOString();
  const request = optionalVariable(environment, 'CI_MERGE_REQUEST_IID');
  const defaultBranch = optionalVariable(environment, 'CI_DEFAULT_BRANCH');
  const trailers = trailersOfPull(optionalVariable(environment, 'CI_MERGE_REQUEST_DESCRIPTION'), [
    optionalVariable(environment, 'CI_COMMIT_MESSAGE'),
  ]);
  if (request !== null) {
    const project = requireVariable(environment, 'CI_MERGE_REQUEST_PROJECT_URL');
    const branch = requireVariable(environment, 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME');
    const fact: DeliveryFact = {
      ...{ kind: 'pr_updated', at, number: Number(request), url: `${project}/-/merge_requests/${request}` },
      branch,
      // In a pipeline of the merged result, CI_COMMIT_SHA is a commit that is on no branch.
      sha:
        optionalVariable(environment, 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA') ??
        requireVariable(environment, 'CI_COMMIT_SHA'),
      title: optionalVariable(environment, 'CI_MERGE_REQUEST_TITLE'),
      base: optionalVariable(environment, 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME'),
      isForeign:
        optionalVariable(environment, 'CI_MERGE_REQUEST_SOURCE_PROJECT_ID') !==
        optionalVariable(environment, 'CI_MERGE_REQUEST_PROJECT_ID'),
      ...{ before: null, reviewer: null, defaultBranch },
      trailers: collectsOtherWork(branch) ? [] : trailers,
    };
    return {
      repository: project,
      facts: [fact],
      checkedHead: fact,
      checksResult: undefined,
      runId: run,
      ignoredReason: undefined,
    };
  }
  const branch = optionalVariable(environment, 'CI_COMMIT_BRANCH');
  if (branch === null) return ignoredPipeline(repository, run, 'it has no branch');
  if (branch === defaultBranch) return ignoredPipeline(repository, run, 'it is on the default branch');
  if (isMergeQueueBranch(branch)) return ignoredPipeline(repository, run, 'it is on a merge queue branch');
  const sha = requireVariable(environment, 'CI_COMMIT_SHA');
  const fact: DeliveryFact = {
    ...emptyFact,
    kind: 'branch_pushed',
    at,
    branch,
    sha,
    before: zeroShaToNull(environment['CI_COMMIT_BEFORE_SHA']),
    defaultBranch,
    trailers: collectsOtherWork(branch) ? [] : trailers,
  };
  return {
    repository,
    facts: [fact],
    checkedHead: fact,
    checksResult: undefined,
    runId: run,
    ignoredReason: undefined,
  };
}

/** Throws UsageError outside of a known pipeline, and if the event differs from the forge's documentation. */
export async function readPipeline(environment: EnvironmentVariables): Promise<Pipeline> {
  try {
    if (environment['GITHUB_ACTIONS'] === 'true') return await readGithubPipeline(environment);
    if (environment['GITLAB_CI'] === 'true') return readGitlabPipeline(environment);
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError || error instanceof RangeError)
      throw new UsageError(`the event of the pipeline has an unexpected format: ${error.message}`);
    throw error;
  }
  throw new UsageError(
    'this is not a GitHub or GitLab pipeline; elsewhere use muster delivery-executions record-forge-observation',
  );
}
