/** The command `muster report`, with which a pipeline reports about the work that it checks. */
import { appendFile } from 'node:fs/promises';
import { type DeliveryFact } from '@muster/forges/reading';
import { terminalSafeJson, sanitizeForTerminal } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { type ApiAccess } from '../api-access.ts';
import { type ChecksResult, type EnvironmentVariables, type Pipeline, readPipeline } from './pipeline.ts';
import { type FactRecording, recordFact } from './record.ts';

interface ReportFlags {
  readonly token?: string;
  readonly checks?: ChecksResult;
  readonly execution?: string;
  readonly json?: boolean;
}

/** The results of a job as GitHub and GitLab name them. */
const checksByJobStatus: Readonly<Record<string, ChecksResult>> = {
  ...{ passed: 'passed', success: 'passed' },
  ...{ failed: 'failed', failure: 'failed', cancelled: 'failed', canceled: 'failed' },
};

function parseChecks(text: string): ChecksResult {
  const verdict = Object.hasOwn(checksByJobStatus, text) ? checksByJobStatus[text] : undefined;
  if (verdict === undefined)
    throw new InvalidArgumentError(`It must be ${Object.keys(checksByJobStatus).join(', ')}.`);
  return verdict;
}

export function configureReportCommand(command: Command, api: ApiAccess): void {
  api
    .addFlags(
      command
        .description(
          'In a GitHub or GitLab pipeline: records the event that started it (a push, a pull request, a review) and the result of its checks, for the work with this branch or pull request of the repository. Observations from a token have the trust level reported, not verified. If no work matches, nothing is recorded, and the pipeline continues.',
        )
        .option(
          '--checks <verdict>',
          'the result of the checks: passed or failed, or the status of a job',
          parseChecks,
        )
        .option('--execution <id>', 'the execution; by default the one with the pull request or the branch')
        .option('--json', 'print what was recorded as JSON')
        .addHelpText(
          'after',
          `
Examples:
  muster report --checks \${{ job.status }}
  muster report --checks passed`,
        ),
    )
    .action((flags: ReportFlags) => runReport(flags, api));
}

/** Lists the facts to record with their idempotency keys. */
function factsToRecord(
  { facts, checkedHead, checksResult: told, runId }: Pipeline,
  checksFlag: ChecksResult | undefined,
): { fact: DeliveryFact; key?: string }[] {
  const verdict = checksFlag ?? told;
  const own = facts.map((fact) => ({ fact }));
  if (verdict === undefined || checkedHead === undefined) return own;
  const fact: DeliveryFact = { ...checkedHead, kind: `checks_${verdict}`, at: new Date().toISOString() };
  return [...own, { fact, key: `${fact.kind} ${runId}`.slice(0, 255) }];
}

/**
 * Returns true for a pull request of a fork whose pipeline has no token. Pipelines of forks do not get the
 * secrets of the repository.
 */
const isForkWithoutToken = (
  { facts, checkedHead }: Pipeline,
  { token }: ReportFlags,
  environment: EnvironmentVariables,
) =>
  (token ?? environment['MUSTER_TOKEN'] ?? '') === '' &&
  [...facts, ...(checkedHead === undefined ? [] : [checkedHead])].some(({ isForeign }) => isForeign);

async function runReport(flags: ReportFlags, api: ApiAccess): Promise<void> {
  const environment = process.env;
  const pipeline = await readPipeline(environment);
  const facts = factsToRecord(pipeline, flags.checks);
  const say = (line: string): void => {
    if (flags.json !== true) process.stdout.write(`${sanitizeForTerminal(line)}\n`);
  };
  const results: FactRecording[] = [];
  if (facts.length === 0) {
    say(
      `Nothing to record: ${pipeline.ignoredReason ?? 'the event has no information about the state of work'}.`,
    );
  } else if (isForkWithoutToken(pipeline, flags, environment)) {
    say('Nothing was recorded: the pipeline runs for a fork, which has no token.');
  } else {
    const { client } = await api.connect(flags);
    const { repository } = pipeline;
    for (const { fact, key } of facts) {
      const recordings = await recordFact(client, fact, {
        ...{ execution: flags.execution, repository },
        ...(key && { key }),
      });
      results.push(...recordings);
      for (const recording of recordings) say(describeRecording(recording));
    }
  }
  if (flags.json === true) process.stdout.write(`${terminalSafeJson({ items: results })}\n`);
  await writeGithubOutputs(environment, results);
}

const describeRecording = ({ kind, executionId, recorded, why }: FactRecording): string =>
  recorded ? `${kind}: recorded for execution ${executionId ?? ''}` : `${kind}: not recorded: ${why ?? ''}`;

/** Writes the outputs of the GitHub step. */
async function writeGithubOutputs(
  environment: EnvironmentVariables,
  results: readonly FactRecording[],
): Promise<void> {
  const file = environment['GITHUB_OUTPUT'];
  if (environment['GITHUB_ACTIONS'] !== 'true' || file === undefined || file === '') return;
  const execution = results.find(({ executionId }) => executionId !== null)?.executionId ?? '';
  const recorded = results.filter((result) => result.recorded).length;
  await appendFile(file, `execution=${execution}\nrecorded=${recorded}\n`);
}
