/**
 * The most frequent calls of agents: they acquire work, write a checkpoint, and release it; and they renew
 * leases.
 */
import { type BarePath } from './bare-statements.ts';
import { type BenchOrg } from './data.ts';
import { type Remember } from './load-request.ts';
import { recall } from './memory.ts';
import { pick, placeOf, type Twin, twin, type Workload } from './work.ts';

/** The number of stories that one connection works on. No other connection uses them. */
const storiesPerWorker = 16;
/** The number of agents that concurrently acquire the next story of one project and release it again. */
const agentsOnOneBoard = 64;
/** The number of calls that a connection makes with each lease it keeps. */
const callsPerLease = 63;

const held = { executionId: recall('executionId'), leaseToken: recall('leaseToken') };

const acquire = (org: BenchOrg, storyId: string): Twin => {
  const made = twin(org, 'deliveryExecutions.acquire', '/executions/acquire', {
    targetType: 'story',
    targetId: storyId,
  });
  const grant = (muster: Remember, bare: Remember): Twin => ({
    muster: { ...made.muster, remember: muster },
    bare: { ...made.bare, remember: bare },
  });
  return grant(
    { executionId: 'execution.id', leaseToken: 'leaseToken' },
    { executionId: 'execution.id', leaseToken: 'execution.leaseToken' },
  );
};

const checkpoint = (org: BenchOrg, index: number): Twin =>
  twin(org, 'deliveryExecutions.checkpoint', '/executions/checkpoint', {
    ...held,
    summary: `The parser reads all ${index} samples; the printer is next. Two tests are red, both in the printer.`,
    nextSteps: ['Print the samples', 'Run the whole suite'],
    filesTouched: Array.from({ length: 6 }, (_, file) => `src/parser/part-${file}.ts`),
  });

/** Returns the story on which a connection works at this turn. */
function storyOf(
  orgs: readonly BenchOrg[],
  connection: number,
  turn: number,
): { org: BenchOrg; storyId: string } {
  const { org, project, seat } = placeOf(orgs, connection);
  return { org, storyId: pick(project.backlogIds, seat * storiesPerWorker + (turn % storiesPerWorker)) };
}

/** Defines a workload that acquires one lease, keeps it, and repeats one call of its holder. */
const holding = (name: string, call: (org: BenchOrg, index: number) => Twin): Workload => ({
  name: `deliveryExecutions.${name}`,
  operation: `deliveryExecutions.${name}`,
  isWrite: true,
  // A repeated acquire by the holder creates no event, nor does a renewal. Each creates an audit entry.
  leaves: 'audit',
  goal: 0.5,
  lane: (orgs, connection) => {
    const { org, storyId } = storyOf(orgs, connection, 0);
    return [acquire(org, storyId), ...Array.from({ length: callsPerLease }, (_, index) => call(org, index))];
  },
});

const same = (operation: 'renew' | 'release', path: BarePath) => (org: BenchOrg) =>
  twin(org, `deliveryExecutions.${operation}`, path, held);

export const leaseWorks: readonly Workload[] = [
  {
    name: 'acquire → checkpoint → release',
    operation: 'deliveryExecutions.acquire',
    isWrite: true,
    // If the lease is still held from the previous round, the call creates an audit entry but no event.
    leaves: 'audit',
    goal: 0.5,
    lane: (orgs, connection) =>
      Array.from({ length: storiesPerWorker }, (_, turn) => {
        const { org, storyId } = storyOf(orgs, connection, turn);
        return [acquire(org, storyId), checkpoint(org, turn), same('release', '/executions/release')(org)];
      }).flat(),
  },
  {
    // All agents work on one board. On the bare server each acquires a story of its own by name.
    name: `acquireNext by ${agentsOnOneBoard} agents`,
    operation: 'deliveryExecutions.acquireNext',
    isWrite: true,
    leaves: 'audit',
    goal: null,
    callers: agentsOnOneBoard,
    lane: (orgs, connection) => {
      const org = pick(orgs, 0);
      const { projectId, backlogIds } = org.queue;
      const storyId = pick(backlogIds, connection);
      const { muster } = twin(org, 'deliveryExecutions.acquireNext', '/executions/acquire', {
        ...{ projectId, runId: `agent-${connection}` },
      });
      const { bare, muster: named } = acquire(org, storyId);
      const next = { muster: { ...muster, remember: named.remember ?? {} }, bare };
      return Array.from({ length: storiesPerWorker }, () => [
        next,
        same('release', '/executions/release')(org),
      ]).flat();
    },
  },
  holding('renew', same('renew', '/executions/renew')),
  holding('checkpoint', checkpoint),
];
