/** English texts of the page of a run, loaded with it. */
import { type Failure, type RunLogStream, type RunState } from '@muster/contract';
import { type z } from 'zod';
import { pluralize } from './en.ts';

interface FailureText {
  readonly reason: string;
  readonly nextStep: string;
}

export const runTexts = {
  loading: 'Loading the run',
  title: (agentName: string) => `Run of ${agentName}`,
  state: {
    running: 'Running',
    waiting: 'Waiting for an answer',
    completed: 'Completed',
    failed: 'Failed',
    canceled: 'Stopped',
  } satisfies Record<RunState, string>,
  stalled: 'Stalled: the lease has expired, and nothing was reported since.',
  started: 'Started',
  ended: 'Ended',
  lastSeen: 'Last report',
  branch: 'Branch',
  pullRequest: 'Pull request',
  pullRequestNumber: (number: number) => `#${number}`,
  checks: 'Checks',
  usage: 'Usage',
  usageByModel: 'Usage by model',
  model: 'Model',
  cost: 'Cost',
  tokensIn: 'Tokens in',
  cached: 'From cache',
  tokensOut: 'Tokens out',
  allUsage: (agentName: string) => `All usage of ${agentName}`,
  failures: {
    agent_error: {
      reason: 'The agent failed, or its work did not pass the checks.',
      nextStep: 'Read the end of the log, then retry or hand the story to someone else.',
    },
    timeout: {
      reason: 'The agent took too long or was idle for too long.',
      nextStep: 'Split the story into smaller ones, or retry.',
    },
    context_exhausted: {
      reason: 'The agent ran out of context.',
      nextStep: 'Shorten the spec or split the story, then retry.',
    },
    rate_limited: {
      reason: 'The provider of the model limited the agent’s requests.',
      nextStep: 'Wait until the limit is reset, then retry.',
    },
    permission_denied: {
      reason: 'The agent needed a permission that it does not have.',
      nextStep: 'Grant the permission in .muster/work.yaml, then retry.',
    },
    conflict: {
      reason: 'The work conflicts with other changes.',
      nextStep: 'Merge the base branch into the work, then retry.',
    },
    infra: {
      reason: 'The machine or its connection failed.',
      nextStep: 'Check the machine that runs the agent, then retry.',
    },
  } satisfies Record<z.infer<typeof Failure>, FailureText>,
  failed: { reason: 'The run failed.', nextStep: 'Read the end of the log, then retry.' },
  retry: 'Retry',
  retried: (agentName: string, key: string) => `${agentName} was asked to work on ${key} again`,
  notRetried: 'The run was not retried',
  runs: 'Runs',
  ofStory: {
    running: 'Running',
    waiting: 'Waiting',
    completed: 'Completed',
    failed: 'Failed',
    canceled: 'Stopped',
  } satisfies Record<RunState, string>,
  openRunOf: (agentName: string) => `Open run of ${agentName}`,
  startRunner: 'Start a runner where the repository and the agent’s token are:',
  command: 'command',
  steps: 'Steps',
  noSteps: 'No steps yet.',
  moreFiles: (count: number) => `and ${count.toLocaleString()} more`,
  questions: 'Questions',
  answer: 'Answer',
  answerTo: (agentName: string) => `Answer to ${agentName}`,
  answeredBy: (name: string) => `${name} answered`,
  log: 'Log',
  noLog: 'No output yet.',
  noLogEnded: 'This run sent no output.',
  search: 'Search the log',
  noMatches: 'No line matches.',
  matches: (count: number, total: number) => `${count.toLocaleString()} of ${total.toLocaleString()} lines`,
  lines: (count: number) => pluralize(count, 'line', 'lines'),
  dropped: (count: number) =>
    count === 1
      ? '1 older line is no longer kept.'
      : `${count.toLocaleString()} older lines are no longer kept.`,
  follow: 'Follow',
  streams: { stdout: 'output', stderr: 'errors', tool: 'tool' } satisfies Record<RunLogStream, string>,
  logFailed: 'The log could not be loaded. Trying again.',
};
