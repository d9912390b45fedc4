/** Reads the event that started a pipeline from the environment variables of its forge. */
import { readFile } from 'node:fs/promises';
import { type DeliveryFact, read, trailersOfCommits, trailersOfPull } from '@muster/forges/reading';
import { z } from 'zod';
import { UsageError } from '@muster/terminal';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
export type Checks = 'passed' | 'failed';

export interface Pipeline {
  readonly facts: readonly DeliveryFact[];
  /**
   * The checked commit, with the data that identifies the work. Undefined if the pipeline checks no branch.
   */
  readonly checked: DeliveryFact | undefined;
  /** The result of the checks, if the event that started the pipeline reports it. */
  readonly checks: Checks | undefined;
  /** The unique id of this run of the pipeline. */
  readonly run: string;
  /** The reason why the event has nothing to report. */
  readonly ignored: string | undefined;
}

const needed = (environment: EnvironmentVariables, name: string): string => {
  const value = environment[name];
  if (value === undefined || value === '') throw new UsageError(`the pipeline has no ${name}`);
  return value;
};
const said = (environment: EnvironmentVariables, name: string): string | null =>
  environment[name]?.trim() || null;

const bare: Omit<DeliveryFact, 'kind' | 'at' | 'branch' | 'sha'> = {
  ...{ before: null, number: null, url: null, title: null, base: null, defaultBranch: null },
  ...{ isForeign: false, trailers: [], reviewer: null },
};

const now = (): string => new Date().toISOString();

const RunOf = z.object({
  workflow_run: z.object({
    id: z.int(),
    head_branch: z.string().nullish(),
    head_sha: z.string(),
    head_repository: z.object({ id: z.int() }).nullish(),
    head_commit: z.object({ message: z.string() }).nullish(),
  }),
  repository: z.object({ id: z.int(), default_branch: z.string().nullish() }),
});

/** Returns the checked head for a GitHub workflow that was triggered by the end of another workflow. */
function headOf(payload: unknown): DeliveryFact | undefined {
  const { workflow_run: run, repository } = RunOf.parse(payload);
  if (run.head_branch == null || run.head_branch === repository.default_branch) return undefined;
  return {
    ...bare,
    ...{ kind: 'checks_passed', at: now(), branch: run.head_branch, sha: run.head_sha },
    isForeign: run.head_repository?.id !== repository.id,
    trailers: trailersOfCommits([run.head_commit?.message]),
  };
}

/** Reads a GitHub event. GitHub gives a workflow the same payload that it delivers to webhooks. */
async function ofGithub(environment: EnvironmentVariables): Promise<Pipeline> {
  const event = needed(environment, 'GITHUB_EVENT_NAME');
  const file = needed(environment, 'GITHUB_EVENT_PATH');
  const payload: unknown = JSON.parse(await readFile(file, 'utf8'));
  // The event pull_request_target has the same payload as pull_request, and its workflow gets the secrets of
  // the target repository.
  const name = event === 'pull_request_target' ? 'pull_request' : event;
  const reading = read('github', name, payload);
  const run = [
    ...[needed(environment, 'GITHUB_REPOSITORY'), needed(environment, 'GITHUB_RUN_ID')],
    ...[said(environment, 'GITHUB_RUN_ATTEMPT') ?? '1', said(environment, 'GITHUB_JOB') ?? ''],
  ].join(' ');
  if ('ignored' in reading) {
    return { facts: [], checked: undefined, checks: undefined, run, ignored: reading.ignored };
  }
  const [fact] = reading.facts;
  const [check] = reading.checks;
  const told = check?.state === 'pending' ? undefined : check?.state;
  const checked = name === 'workflow_run' ? headOf(payload) : fact?.kind === 'pr_merged' ? undefined : fact;
  return { facts: reading.facts, checked, checks: told, run, ignored: undefined };
}

function ofGitlab(environment: EnvironmentVariables): Pipeline {
  const run = `${needed(environment, 'CI_PROJECT_URL')} ${needed(environment, 'CI_PIPELINE_ID')}`;
  const at = new Date(said(environment, 'CI_PIPELINE_CREATED_AT') ?? now()).toISOString();
  const request = said(environment, 'CI_MERGE_REQUEST_IID');
  const defaultBranch = said(environment, 'CI_DEFAULT_BRANCH');
  const trailers = trailersOfPull(said(environment, 'CI_MERGE_REQUEST_DESCRIPTION'), [
    said(environment, 'CI_COMMIT_MESSAGE'),
  ]);
  if (request !== null) {
    const project = needed(environment, 'CI_MERGE_REQUEST_PROJECT_URL');
    const fact: DeliveryFact = {
      ...{ kind: 'pr_updated', at, number: Number(request), url: `${project}/-/merge_requests/${request}` },
      branch: needed(environment, 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME'),
      // In a pipeline of the merged result, CI_COMMIT_SHA is a commit that is on no branch.
      sha: said(environment, 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA') ?? needed(environment, 'CI_COMMIT_SHA'),
      title: said(environment, 'CI_MERGE_REQUEST_TITLE'),
      base: said(environment, 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME'),
      isForeign:
        said(environment, 'CI_MERGE_REQUEST_SOURCE_PROJECT_ID') !==
        said(environment, 'CI_MERGE_REQUEST_PROJECT_ID'),
      ...{ before: null, reviewer: null, defaultBranch, trailers },
    };
    return { facts: [fact], checked: fact, checks: undefined, run, ignored: undefined };
  }
  const branch = said(environment, 'CI_COMMIT_BRANCH');
  if (branch === null || branch === defaultBranch) {
    const ignored = branch === null ? 'it has no branch' : 'it is on the default branch';
    return { facts: [], checked: undefined, checks: undefined, run, ignored };
  }
  const sha = needed(environment, 'CI_COMMIT_SHA');
  const fact: DeliveryFact = { ...bare, kind: 'branch_pushed', at, branch, sha, defaultBranch, trailers };
  return { facts: [fact], checked: fact, checks: undefined, run, ignored: undefined };
}

/** Throws UsageError outside of a known pipeline, and if the event differs from the forge's documentation. */
export async function readPipeline(environment: EnvironmentVariables): Promise<Pipeline> {
  try {
    if (environment['GITHUB_ACTIONS'] === 'true') return await ofGithub(environment);
    if (environment['GITLAB_CI'] === 'true') return ofGitlab(environment);
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError || error instanceof RangeError)
      throw new UsageError(`the event of the pipeline has an unexpected format: ${error.message}`);
    throw error;
  }
  throw new UsageError(
    'this is not a GitHub or GitLab pipeline; elsewhere use muster delivery-executions record-forge-observation',
  );
}
