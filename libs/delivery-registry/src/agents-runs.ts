/** The runs of agents, and of members at work, with their logs. */
import { z } from 'zod';
import {
  org,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  ProjectRef,
  StoryRef,
  RunId,
  ListedRun,
  maxRunLogLines,
  runDetails,
  RunLogLine,
  RunState,
  runStates,
} from '@muster/contract';

/** A run id is unique within a project only. Without a project, the newest run with the id is meant. */
const runRef = {
  runId: RunId.meta({
    description:
      'The id of the run, or of an execution, which means the newest run that held it. Of several runs in different projects, the newest is used',
  }),
  projectId: ProjectRef.optional(),
};

const maxLogPage = 1_000;

export const runs = {
  get: operation({
    name: 'agents.runs.get',
    effect: 'read',
    summary: 'Get a run with its steps and its execution',
    keywords: 'what did the agent do session details timeline',
    description:
      'Only in projects that you may see. The id of an execution also finds work whose holder reported no run; the run is then derived from the execution.',
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject(runRef),
    result: z.object(runDetails),
    example: { runId: 'run-2', projectId: 'WEB' },
  }),
  list: operation({
    name: 'agents.runs.list',
    effect: 'read',
    summary: 'List runs, newest first',
    keywords: 'history of agents sessions attempts ended failed',
    description:
      'Runs that have ended too, until they are deleted. Only in projects that you may see. A run without a report for a long time keeps its state; agents.listActive shows which runs are stalled.',
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      storyId: StoryRef.optional(),
      agentId: AgentParam.optional(),
      state: z.union([RunState, z.array(RunState).min(1).max(runStates.length)]).optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(ListedRun),
    example: { projectId: 'WEB', state: ['running', 'waiting'] },
  }),
  log: operation({
    name: 'agents.runs.log',
    effect: 'read',
    summary: 'Read the log of a run, and follow it',
    keywords: 'output console stdout stderr tail transcript of the agent',
    description: `Lines after afterLine, oldest first. The newest ${maxRunLogLines.toLocaleString('en')} lines are kept; dropped is the number of older ones. With waitSeconds the call returns as soon as there is a line, or the run ends. Continue from the last line until the run has ended and no line is left.`,
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      ...runRef,
      afterLine: z.int().min(0).max(2_147_483_647).default(0),
      limit: z.int().min(1).max(maxLogPage).default(200),
      waitSeconds: z.int().min(0).max(25).default(0),
    }),
    result: z.object({
      items: z.array(RunLogLine),
      dropped: z.int().describe('The number of lines that are no longer kept'),
      lastLine: z.int().describe('The number of the newest line; 0 if there is none'),
      state: RunState,
    }),
    example: { runId: 'run-2', projectId: 'WEB' },
  }),
};
