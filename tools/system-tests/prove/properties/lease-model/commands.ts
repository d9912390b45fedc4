/**
 * The commands from which sequences are drawn. They are all kinds of calls by all kinds of callers, with
 * valid and invalid tokens, and the passage of time.
 */
import fc from 'fast-check';
import { stories, type StoryName, type TargetName } from '../../board.ts';
import { type CallSet } from '../../calls.ts';
import { type Name, names, type NewCall } from '../../team.ts';
import { Command, type CommandPlan } from './command.ts';
import * as lockVerdicts from './lock-verdicts.ts';
import { type ModelExecution, type ModelHolder, type Model, openOf, type Target } from './model.ts';
import { type Real } from './real.ts';
import * as storyVerdicts from './story-verdicts.ts';
import * as verdicts from './verdicts.ts';

/** Most targets are the first story, because many faults need several commands on one target. */
const aTarget = fc.constantFrom<TargetName>('s1', 's1', 's1', 's1', 's1', 's2', 's3', 'group', 'group');
const aStory = fc.constantFrom<StoryName>('s1', 's1', ...stories);
/** Draws the usual value much more often than the others. */
const mostly = <Value>(usual: fc.Arbitrary<Value>, weight: number, ...others: Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ arbitrary: usual, weight }, ...others.map((other) => fc.constant(other)));
const worker = fc.constantFrom<Name>('ana', 'ben', 'chloe', 'robo');
/** The viewer is drawn less often, because the answer is always a refusal. */
const aPerson = mostly(worker, 12, 'dan');
const aHolder = fc.record<ModelHolder>({
  person: aPerson,
  run: fc.constantFrom(null, null, 'run-1', 'run-2'),
});
const aTtl = fc.constantFrom(undefined, undefined, 1, 60, 86_400);

const badTokens = ['older', 'of another target', 'other epoch', 'made up', 'no token at all'];
/** The choice of a token for a lease holder's call. */
const aToken = fc.record({
  which: mostly(fc.constant('current'), 14, ...badTokens),
  nth: fc.nat(50),
  /** The caller that presents the token instead of its holder. */
  stolenBy: fc.oneof({ arbitrary: fc.constant(null), weight: 9 }, fc.constantFrom<Name>(...names)),
  /**
   * Is true if the call names an earlier execution of the target instead of the newest one. It has no effect
   * if there is none.
   */
  earlier: mostly(fc.constant(false), 9, true),
});
type TokenChoice = typeof aToken extends fc.Arbitrary<infer Choice> ? Choice : never;

const nth = <Item>(items: readonly Item[], n: number): Item | undefined =>
  items.length === 0 ? undefined : items[n % items.length];

/** Returns the call of a lease holder; undefined if the target never had an execution or a token. */
function holderCall(model: Model, name: TargetName, choice: TokenChoice): verdicts.HolderCall | undefined {
  const execution = pick(model.targets[name], choice);
  const own = model.tokens.filter((token) => token.target === name);
  const others = model.tokens.filter((token) => token.target !== name);
  const newest = own.at(-1);
  if (execution === null || newest === undefined) return undefined;
  const from = { older: own, 'of another target': others }[choice.which] ?? [];
  const chosen = nth(from, choice.nth) ?? newest;
  const leaseToken = forge(chosen.value, choice);
  return { executionId: execution.id, leaseToken, person: choice.stolenBy ?? chosen.person };
}

const pick = ({ execution, earlier }: Target, choice: TokenChoice): ModelExecution | null =>
  choice.earlier ? (nth(earlier, choice.nth) ?? execution) : execution;

function forge(token: string, { which, nth: n }: TokenChoice): string {
  if (which === 'other epoch') return token.replace(/^lse_\d+_/, `lse_${n}_`);
  if (which === 'made up') return token.slice(0, -32) + 'x'.repeat(32);
  return which === 'no token at all' ? 'lease' : token;
}

const command = <Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  plan: (args: Args, model: Model, real: Real) => CommandPlan | Promise<CommandPlan>,
): fc.Arbitrary<Command> =>
  args.map((drawn) => new Command(name, drawn, async (model, real) => plan(drawn, model, real)));

/** Draws an operation that only the lease holder may call. */
const ofHolder = <Args extends object>(
  operation: string,
  args: fc.Arbitrary<Args>,
  paramsOf: (args: Args, calls: CallSet) => Record<string, unknown>,
  verdictOf: (model: Model, call: verdicts.HolderCall, args: Args) => verdicts.Forecast,
): fc.Arbitrary<Command> =>
  command(
    operation,
    fc.record({ target: aTarget, choice: aToken, rest: args }),
    ({ target, choice, rest }, model, { calls }) => {
      const grant = holderCall(model, target, choice);
      return (
        grant && {
          call: calls.hold(operation, grant, paramsOf(rest, calls)),
          verdict: verdictOf(model, grant, rest),
        }
      );
    },
  );

/** Draws a call about an execution that needs no lease. */
const onExecution = <Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  callOf: (calls: CallSet, person: Name, executionId: string, args: Args) => NewCall,
  verdictOf: (model: Model, person: Name, executionId: string, args: Args) => verdicts.Forecast,
): fc.Arbitrary<Command> =>
  command(
    name,
    fc.record({ target: aTarget, person: aPerson, rest: args }),
    ({ target, person, rest }, model, { calls }) => {
      const id = model.targets[target].execution?.id;
      return id === undefined
        ? undefined
        : { call: callOf(calls, person, id, rest), verdict: verdictOf(model, person, id, rest) };
    },
  );

const onStory = <Arg>(
  name: 'move' | 'answer',
  arg: fc.Arbitrary<Arg>,
  callOf: (calls: CallSet, person: Name, story: StoryName, arg: Arg) => NewCall,
  verdictOf: (model: Model, story: StoryName, person: Name, arg: Arg) => verdicts.Forecast,
): fc.Arbitrary<Command> =>
  command(
    name,
    fc.record({ story: aStory, person: aPerson, arg }),
    ({ story, person, arg: drawn }, model, { calls }) => ({
      call: callOf(calls, person, story, drawn),
      verdict: verdictOf(model, story, person, drawn),
    }),
  );

/** Draws a step without a call, in which time passes. */
const arrangement = (
  name: string,
  arrange: (real: Real, target: Target) => Promise<void>,
): fc.Arbitrary<Command> =>
  command(name, aTarget, async (target, model, real) => {
    await arrange(real, model.targets[target]);
    return { call: null };
  });

/** Returns the current holder, or else the person recorded with the stop. */
const lastHolder = ({ lease, execution }: Target): ModelHolder | null =>
  lease?.holder ?? execution?.stop ?? null;

const acquires = command(
  'acquire',
  fc.record({
    target: aTarget,
    by: aHolder,
    again: mostly(fc.constant(false), 3, true),
    takeOver: mostly(fc.constant(false), 4, true),
    start: fc.boolean(),
    ttl: aTtl,
  }),
  ({ target, by, again, ttl, start, takeOver }, model, { calls }) => {
    const holder = (again ? lastHolder(model.targets[target]) : null) ?? by;
    const options = { ttlSeconds: ttl, runId: holder.run ?? undefined, start, takeOver };
    return {
      call: calls.acquire(holder.person, target, options),
      verdict: verdicts.acquire(model, { target, holder, takeOver, start, ttl }),
    };
  },
);

const pullKinds = ['pr_merged', 'pr_closed', 'pr_reopened', 'pr_opened'];
const aFact = fc.record({
  kind: fc.constantFrom(...pullKinds, 'checks_failed', 'checks_passed', 'changes_requested'),
  // Two random times are hardly ever equal. The contract does not order facts with equal times.
  at: fc.nat(1_000_000_000),
  dedupeKey: fc.nat(30).map((key) => `fact-${key}`),
});

const firstDay = Date.parse('2026-01-01T00:00:00.000Z');

const facts = onExecution(
  'observe',
  aFact,
  (calls, person, executionId, { kind, dedupeKey, at }) =>
    calls.observe(person, executionId, {
      ...{ kind, dedupeKey, observedAt: new Date(firstDay + at).toISOString() },
    }),
  verdicts.observe,
);

const stops = onExecution(
  'requestStop',
  fc.constant(true),
  (calls, person, executionId, isWanted) => calls.requestStop(person, executionId, isWanted),
  verdicts.requestStop,
);

const lifts = onExecution(
  'liftStop',
  fc.constant(false),
  (calls, person, executionId, isWanted) => calls.requestStop(person, executionId, isWanted),
  verdicts.liftStop,
);

const moves = onStory(
  'move',
  fc.constantFrom('canceled', 'done', 'in_progress', 'in_progress', 'ready', 'in_review'),
  (calls, person, story, to) => calls.move(person, story, to),
  storyVerdicts.setStatus,
);

const answers = onStory(
  'answer',
  fc.boolean(),
  (calls, person, story, resolved) => calls.answer(person, story, resolved),
  storyVerdicts.answerQuestion,
);

const expiries = arrangement('expire', async (real, target) => {
  if (target.lease === null) return;
  await real.expire(target.name);
  target.lease.expired = true;
  if (target.execution !== null && target.execution.lock !== null) target.execution.lock.lapsed = true;
});

const lapses = arrangement('letOfferLapse', async (real, { execution }) => {
  if (execution?.state !== 'offered' || execution.offer === null) return;
  await real.letOfferLapse(execution.id);
  execution.offer.lapsed = true;
  if (execution.lock !== null) execution.lock.lapsed = true;
});

const locks = command(
  'lock',
  fc.record({ target: aTarget, by: aHolder, again: mostly(fc.constant(true), 4, false) }),
  async ({ target, by, again }, model, real) => {
    const execution = openOf(model.targets[target]);
    if (execution === null) return undefined;
    await real.unlockBeside();
    const holder = (again ? model.targets[target].lease?.holder : null) ?? by;
    const options = { ttlSeconds: 60, executionId: execution.id, runId: holder.run ?? undefined };
    return {
      call: real.calls.lock(holder.person, `${target}/**`, options),
      verdict: lockVerdicts.lock(model, target, holder),
    };
  },
);

const locksBeside = command(
  'lock beside',
  fc.record({ target: aTarget, person: aPerson }),
  async ({ target, person }, model, real) => {
    await real.unlockBeside();
    return {
      call: real.calls.lock(person, `${target}/a.ts`, { runId: 'beside' }),
      verdict: lockVerdicts.lockBeside(model, target, person),
    };
  },
);

const renews = ofHolder(
  'renew',
  fc.record({ ttl: aTtl }),
  ({ ttl }) => ({ ttlSeconds: ttl }),
  verdicts.renew,
);

const checkpoints = ofHolder(
  'checkpoint',
  fc.record({ expectedSeq: fc.constantFrom(undefined, undefined, undefined, 0, 1) }),
  ({ expectedSeq }) => ({ summary: 'Half', expectedSeq }),
  verdicts.checkpoint,
);

const updates = ofHolder(
  'update',
  fc.record({
    waitingFor: mostly<StoryName | null | undefined>(aStory, 5, undefined, null),
    branch: fc.boolean(),
  }),
  ({ waitingFor, branch }, { questionOf }) => ({
    ...{ phase: 'testing', git: branch ? { branch: 'web-1' } : undefined },
    waitingFor: waitingFor == null ? waitingFor : { questionId: questionOf(waitingFor) },
  }),
  verdicts.update,
);

const handoffs = ofHolder(
  'handoff',
  fc.record({ to: mostly(worker, 8, 'dan') }),
  ({ to }, { addressee }) => addressee(to),
  verdicts.handoff,
);

const releases = ofHolder('release', fc.constant({}), () => ({}), verdicts.release);

const completions = ofHolder(
  'complete',
  fc.record({
    outcome: fc.constantFrom('submitted', 'submitted', 'submitted', 'succeeded', 'failed', 'canceled'),
    pullRequest: fc.boolean(),
  }),
  ({ outcome, pullRequest }) => ({
    outcome,
    pullRequest: pullRequest ? { number: 17, url: 'https://example.com/pull/17' } : undefined,
  }),
  verdicts.complete,
);

const reads = command('get', aTarget, (name, model, { calls }) => {
  const target = model.targets[name];
  const { execution } = target;
  return {
    call: calls.get('dan', name),
    verdict: verdicts.done(() =>
      execution === null ? { execution: null } : verdicts.shown(target, execution),
    ),
  };
});

/** The list repeats a command to draw it more often. */
export const commands: fc.Arbitrary<Command>[] = [
  ...[acquires, acquires, acquires, acquires, acquires, acquires, expiries, expiries, lapses],
  ...[locks, locks, locks, locksBeside, locksBeside],
  ...[renews, checkpoints, checkpoints, checkpoints, updates, updates, handoffs, handoffs, releases],
  ...[completions, completions, facts, facts, stops, stops, lifts, moves, answers, answers, reads],
];
