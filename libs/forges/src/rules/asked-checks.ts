/** The checks of a commit as a forge's API tells of them, made into what the forge would have delivered. */
import { type ForgeKind } from '@muster/registry';
import { z } from 'zod';
import { type NamedRepository } from './fact.ts';

/** One delivery that was made of an answer. */
export interface CheckDelivery {
  readonly event: string;
  readonly payload: unknown;
}

/** What is asked, below the repository's own address, and how its answer is read. Throws a ZodError for what is none. */
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
  check_suites: z.array(
    Run.extend({ app: z.looseObject({ id: z.int() }).nullish(), latest_check_runs_count: z.int().nullish() }),
  ),
});
/** GitHub opens a suite for each app that is installed, also where the app runs nothing in it, ever. */
const suites = (sha: string): ChecksQuestion => ({
  path: `/commits/${sha}/check-suites?per_page=100`,
  read: (answer, repository) =>
    Suites.parse(answer)
      .check_suites.filter(
        (suite) =>
          suite.app != null && (suite.conclusion != null || (suite.latest_check_runs_count ?? 0) > 0),
      )
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

/** Gitea and Forgejo call the state `status`. */
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
    sha: z.string(),
    status: z.string(),
    source: z.string().nullish(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);
const overStates: ReadonlySet<string> = new Set(['success', 'failed', 'canceled', 'skipped']);
const pipelines = (sha: string): ChecksQuestion => ({
  path: `/pipelines?sha=${sha}&per_page=100`,
  read: (answer, repository) =>
    Pipelines.parse(answer).map(({ updated_at: at, ...pipeline }) => ({
      event: 'Pipeline Hook',
      payload: {
        project: projectOf(repository),
        object_attributes: { ...pipeline, finished_at: overStates.has(pipeline.status) ? at : null },
      },
    })),
});

const questions: Readonly<Record<ForgeKind, readonly ((sha: string) => ChecksQuestion)[]>> = {
  github: [suites, workflowRuns, statuses],
  gitlab: [pipelines],
  gitea: [workflowRuns, statuses],
  forgejo: [workflowRuns, statuses],
};

/** What is asked of a forge about the checks of a commit. */
export const checksQuestions = (kind: ForgeKind, sha: string): readonly ChecksQuestion[] =>
  questions[kind].map((question) => question(encodeURIComponent(sha)));
