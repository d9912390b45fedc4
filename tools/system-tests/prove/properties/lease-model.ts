/**
 * Draws random sequences of operations on leases and runs them on Postgres and on a model. Both must always
 * agree.
 */
import fc from 'fast-check';
import { makeBoard } from '../board.ts';
import { property, type RunProperty } from '../property.ts';

import { type Desk, findTeam, openDesk, type TestTeam } from '../team.ts';
import { commands } from './lease-model/commands.ts';
import { brokenInvariants } from './lease-model/invariants.ts';
import { type Model, newModel, type ModelPolicy } from './lease-model/model.ts';
import { mutants } from './lease-model/mutants.ts';
import { createReal, type Real } from './lease-model/real.ts';

/** The largest number of consecutive commands on one board. */
const mostInARow = 80;
const boardsAtOnce = 5;
/** The number of commands within which a mutant must be found. */
const mutantBudget = 4_000;

const aPolicy = fc.record<ModelPolicy>({
  agentsMayComplete: fc.boolean(),
  requireMergeProof: fc.boolean(),
  completeStoryOnMerge: fc.boolean(),
});

type Drawn = Iterable<fc.AsyncCommand<Model, Real>>;

interface Course {
  readonly team: TestTeam;
  readonly desk: Desk;
  readonly counts: Map<string, number>;
}

const sumOf = ({ counts }: Course, isRefusal: boolean): number =>
  [...counts].reduce((sum, [what, n]) => (what.startsWith('refused') === isRefusal ? sum + n : sum), 0);

async function row(course: Course, policy: ModelPolicy, drawn: Drawn): Promise<void> {
  const board = await makeBoard(course.team, policy);
  const setUp = () => ({ model: newModel(policy), real: createReal(board, course.desk, course.counts) });
  await fc.asyncModelRun<Model, Real, false, Model>(setUp, drawn);
  const broken = await brokenInvariants(board);
  if (broken.length > 0) throw new Error(broken.join('; '));
}

interface Extent {
  /** The minimum number of commands to run. */
  readonly least: number;
  readonly shrinks: boolean;
}

/** Runs until enough commands are done or one shows a difference. */
const run: RunProperty<Extent> = async ({ seed, services, note }, { least, shrinks }, removals) => {
  const team = await findTeam(services);
  const desk = await openDesk(team, services, { removals, max: 1 });
  const course: Course = { team, desk, counts: new Map() };
  const figuresNow = () => ({ commands: sumOf(course, false), refusals: sumOf(course, true) });
  for (let batch = 0; sumOf(course, false) < least; batch += 1) {
    const details = await fc.check(
      fc.asyncProperty(
        aPolicy,
        fc.commands<Model, Real, false>(commands, { maxCommands: mostInARow, size: 'max' }),
        (policy, drawn) => row(course, policy, drawn),
      ),
      { seed: seed + batch, numRuns: boardsAtOnce, endOnFailure: !shrinks },
    );
    if (details.failed) return { violations: [describe(details)], figures: figuresNow() };
  }
  for (const [what, count] of [...course.counts].sort(([a], [b]) => a.localeCompare(b)))
    note(`${what}: ${count}`);
  return { violations: [], figures: figuresNow() };
};

function describe({
  errorInstance,
  counterexample,
  seed,
  counterexamplePath,
}: fc.RunDetails<[ModelPolicy, Drawn]>): string {
  const error = errorInstance instanceof Error ? errorInstance : new Error(String(errorInstance));
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const [policy, drawn] = counterexample ?? [];
  return [
    `${error.message}${cause}`,
    `  policy ${JSON.stringify(policy)}`,
    `  after ${fc.stringify(drawn)}`,
    `  fast-check: seed ${seed}, path ${counterexamplePath ?? ''}`,
  ].join('\n');
}

export const leaseModel = property<Extent>({
  name: 'lease model',
  promise:
    'After any sequence of operations on leases, with any tokens, the answers and the rows are those of a model that was written from the contract alone.',
  short: { least: 1_500, shrinks: true },
  long: { least: 10_000, shrinks: true },
  run,
  controls: mutants.map((mutant) => ({ ...mutant, extent: { least: mutantBudget, shrinks: false } })),
});
