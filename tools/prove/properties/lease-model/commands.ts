/** The commands that are drawn: calls of all kinds, by all kinds of callers, with good tokens and bad ones; and time. */
import fc from 'fast-check';
import { stories, type StoryName, type TargetName, typeOf } from '../../board.ts';
import { type Name, names } from '../../team.ts';
import { Command } from './command.ts';
import { type Execution, type Holder, type Model, openOf, type Target } from './model.ts';
import { type Real } from './real.ts';
import * as lockVerdicts from './lock-verdicts.ts';
import * as storyVerdicts from './story-verdicts.ts';
import * as verdicts from './verdicts.ts';

/** Much of what can go wrong takes a row of commands on one target. */
const aTarget = fc.constantFrom<TargetName>('s1', 's1', 's1', 's1', 's1', 's2', 's3', 'group', 'group');
const aStory = fc.constantFrom<StoryName>('s1', 's1', ...stories);
/** Who only looks is tried less often: it is always the same. */
const aPerson = fc.oneof(
  { arbitrary: fc.constantFrom<Name>('ana', 'ben', 'chloe', 'robo'), weight: 12 },
  fc.constant<Name>('dan'),
);
const aHolder = fc.record<Holder>({
  person: aPerson,
  run: fc.constantFrom(null, null, 'run-1', 'run-2'),
});
const aTtl = fc.constantFrom(undefined, undefined, 1, 60, 86_400);

/** Which token comes with a holder's call. */
const aToken = fc.record({
  which: fc.oneof(
    { arbitrary: fc.constant('current'), weight: 14 },
    ...['older', 'of another target', 'other epoch', 'made up', 'no token at all'].map((each) =>
      fc.constant(each),
    ),
  ),
  nth: fc.nat(50),
  /** In whose hand, if not in its holder's. */
  stolenBy: fc.oneof({ arbitrary: fc.constant(null), weight: 9 }, fc.constantFrom<Name>(...names)),
  /** For another execution of the target, if there was one. */
  earlier: fc.oneof({ arbitrary: fc.constant(false), weight: 9 }, fc.constant(true)),
});
type TokenChoice = typeof aToken extends fc.Arbitrary<infer Choice> ? Choice : never;

const nth = <Item>(items: readonly Item[], n: number): Item | undefined =>
  items.length === 0 ? undefined : items[n % items.length];

/** The call of a holder; undefined where nobody ever worked on the target. */
function holderCall(model: Model, name: TargetName, choice: TokenChoice): verdicts.HolderCall | undefined {
  const target = model.targets[name];
  const execution = pick(target, choice);
  const newest = model.tokens.findLast((token) => token.target === name);
  if (execution === null || newest === undefined) return undefined;
  const older =
    nth(
      model.tokens.filter((token) => token.target === name),
      choice.nth,
    ) ?? newest;
  const others =
    nth(
      model.tokens.filter((token) => token.target !== name),
      choice.nth,
    ) ?? newest;
  const chosen = choice.which === 'older' ? older : choice.which === 'of another target' ? others : newest;
  const token = forge(chosen.value, choice);
  return { executionId: execution.id, token, person: choice.stolenBy ?? chosen.person };
}

const pick = ({ execution, earlier }: Target, choice: TokenChoice): Execution | null =>
  choice.earlier ? (nth(earlier, choice.nth) ?? execution) : execution;

function forge(token: string, { which, nth: n }: TokenChoice): string {
  if (which === 'other epoch') return token.replace(/^lse_\d+_/, `lse_${n}_`);
  if (which === 'made up') return token.slice(0, -32) + 'x'.repeat(32);
  return which === 'no token at all' ? 'lease' : token;
}

/** A command of a holder. */
function ofHolder<Args>(
  operation: string,
  args: fc.Arbitrary<Args>,
  paramsOf: (args: Args, real: Real) => Record<string, unknown>,
  verdictOf: (model: Model, call: verdicts.HolderCall, args: Args) => verdicts.Verdict,
): fc.Arbitrary<Command> {
  return fc.tuple(aTarget, aToken, args).map(
    ([target, choice, rest]) =>
      new Command(operation, { target, ...choice, ...rest }, async (model, real) => {
        const call = holderCall(model, target, choice);
        if (call === undefined) return null;
        const { executionId, token: leaseToken, person } = call;
        return {
          call: {
            person,
            operation: `deliveryExecutions.${operation}`,
            params: { executionId, leaseToken, ...paramsOf(rest, real) },
          },
          verdict: verdictOf(model, call, rest),
        };
      }),
  );
}

/** Whoever has it, or had to stop, once more. */
const lastHolder = ({ lease, execution }: Target): Holder | null => lease?.holder ?? execution?.stop ?? null;

const acquires = fc
  .record({
    target: aTarget,
    by: aHolder,
    again: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, fc.constant(true)),
    takeOver: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, fc.constant(true)),
    start: fc.boolean(),
    ttl: aTtl,
  })
  .map(
    (args) =>
      new Command('acquire', args, async (model, real) => {
        const { target, by, again, ttl, start, takeOver } = args;
        const holder = (again ? lastHolder(model.targets[target]) : null) ?? by;
        return {
          call: {
            person: holder.person,
            operation: 'deliveryExecutions.acquire',
            params: {
              targetType: typeOf(target),
              targetId: real.board.ids[target],
              ttlSeconds: ttl,
              runId: holder.run ?? undefined,
              ...{ start, takeOver },
            },
          },
          verdict: verdicts.acquire(model, { target, holder, takeOver, start, ttl }),
        };
      }),
  );

/** A call about an execution for which no lease is needed. */
const onExecution = <Args>(
  name: string,
  operation: string,
  args: fc.Arbitrary<Args>,
  paramsOf: (args: Args) => Record<string, unknown>,
  verdictOf: (model: Model, person: Name, executionId: string, args: Args) => verdicts.Verdict,
): fc.Arbitrary<Command> =>
  fc.tuple(aTarget, aPerson, args).map(
    ([target, person, rest]) =>
      new Command(name, { target, person, ...rest }, async (model) => {
        const { execution } = model.targets[target];
        if (execution === null) return null;
        const executionId = execution.id;
        return {
          call: { person, operation, params: { executionId, ...paramsOf(rest) } },
          verdict: verdictOf(model, person, executionId, rest),
        };
      }),
  );

const aFact = fc.record({
  kind: fc.constantFrom(
    'pr_merged',
    'pr_closed',
    'pr_reopened',
    'pr_opened',
    'checks_failed',
    'checks_passed',
    'changes_requested',
  ),
  // Distinct times: which of two facts of one moment is the newer one is nobody's promise.
  at: fc.nat(1_000_000_000),
  dedupeKey: fc.nat(30).map((key) => `fact-${key}`),
});

const firstDay = Date.parse('2026-01-01T00:00:00.000Z');

const facts = onExecution(
  'observe',
  'deliveryExecutions.recordForgeObservation',
  aFact,
  ({ kind, at, dedupeKey }) => ({
    observation: { kind, dedupeKey, observedAt: new Date(firstDay + at).toISOString() },
  }),
  verdicts.observe,
);

const stops = onExecution(
  'requestStop',
  'deliveryExecutions.update',
  fc.constant({}),
  () => ({ requestStop: true }),
  verdicts.requestStop,
);

const lifts = onExecution(
  'liftStop',
  'deliveryExecutions.update',
  fc.constant({}),
  () => ({ requestStop: false }),
  verdicts.liftStop,
);

const onStory = <Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  callOf: (
    story: StoryName,
    args: Args,
    real: Real,
  ) => { operation: string; params: Record<string, unknown> },
  verdictOf: (model: Model, story: StoryName, person: Name, args: Args) => verdicts.Verdict,
): fc.Arbitrary<Command> =>
  fc.tuple(aStory, aPerson, args).map(
    ([story, person, rest]) =>
      new Command(name, { story, person, ...rest }, async (model, real) => ({
        call: { person, ...callOf(story, rest, real) },
        verdict: verdictOf(model, story, person, rest),
      })),
  );

const moves = onStory(
  'move',
  fc.record({ to: fc.constantFrom('canceled', 'done', 'in_progress', 'in_progress', 'ready', 'in_review') }),
  (story, { to }, real) => ({
    operation: 'stories.updateStatus',
    params: { storyId: real.board.ids[story], status: to },
  }),
  (model, story, person, { to }) => storyVerdicts.setStatus(model, story, person, to),
);

const answers = onStory(
  'answer',
  fc.record({ resolved: fc.boolean() }),
  (story, { resolved }, real) => ({
    operation: 'comments.resolve',
    params: { commentId: real.board.questions[story], resolved },
  }),
  (model, story, person, { resolved }) => storyVerdicts.answerQuestion(model, story, person, resolved),
);

/** What no call does: time goes by. */
const arrangement = (
  name: string,
  arrange: (real: Real, target: Target) => Promise<void>,
): fc.Arbitrary<Command> =>
  aTarget.map(
    (target) =>
      new Command(name, { target }, async (model, real) => {
        await arrange(real, model.targets[target]);
        return { call: null };
      }),
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

const locks = fc
  .record({
    target: aTarget,
    by: aHolder,
    again: fc.oneof({ arbitrary: fc.constant(true), weight: 4 }, fc.constant(false)),
  })
  .map(
    (args) =>
      new Command('lock', args, async (model, real) => {
        const { target, by, again } = args;
        const execution = openOf(model.targets[target]);
        if (execution === null) return null;
        await real.unlockBeside();
        const holder = (again ? model.targets[target].lease?.holder : null) ?? by;
        return {
          call: {
            person: holder.person,
            operation: 'locks.acquire',
            params: {
              ...{ projectId: real.board.projectId, resources: [`${target}/**`], ttlSeconds: 60 },
              ...{ executionId: execution.id, runId: holder.run ?? undefined },
            },
          },
          verdict: lockVerdicts.lock(model, target, holder),
        };
      }),
  );

const locksBeside = fc.record({ target: aTarget, person: aPerson }).map(
  (args) =>
    new Command('lock beside', args, async (model, real) => {
      const { target, person } = args;
      await real.unlockBeside();
      return {
        call: {
          person,
          operation: 'locks.acquire',
          params: {
            ...{ projectId: real.board.projectId, resources: [`${target}/a.ts`], runId: 'beside' },
          },
        },
        verdict: lockVerdicts.lockBeside(model, target, person),
      };
    }),
);

const renews = ofHolder(
  'renew',
  fc.record({ ttl: aTtl }),
  ({ ttl }) => ({ ttlSeconds: ttl }),
  (model, call, { ttl }) => verdicts.renew(model, call, ttl),
);

const checkpoints = ofHolder(
  'checkpoint',
  fc.record({ expectedSeq: fc.constantFrom(undefined, undefined, undefined, 0, 1) }),
  ({ expectedSeq }) => ({ summary: 'Half', expectedSeq }),
  (model, call, { expectedSeq }) => verdicts.checkpoint(model, call, expectedSeq),
);

const updates = ofHolder(
  'update',
  fc.record({
    waitingFor: fc.constantFrom<(StoryName | null | undefined)[]>(
      undefined,
      null,
      's1',
      's1',
      's1',
      ...stories,
    ),
    branch: fc.boolean(),
  }),
  ({ waitingFor, branch }, real) => ({
    ...{ phase: 'testing', git: branch ? { branch: 'web-1' } : undefined },
    waitingFor: waitingFor == null ? waitingFor : { questionId: real.board.questions[waitingFor] },
  }),
  (model, call, { waitingFor, branch }) =>
    verdicts.update(model, call, { branch, ...(waitingFor !== undefined && { waitingFor }) }),
);

const handoffs = ofHolder(
  'handoff',
  fc.record({
    to: fc.oneof(
      { arbitrary: fc.constantFrom<Name>('ana', 'ben', 'chloe', 'robo'), weight: 8 },
      fc.constant<Name>('dan'),
    ),
  }),
  ({ to }, real) => real.addressee(to),
  (model, call, { to }) => verdicts.handoff(model, call, to),
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
  (model, call, { outcome, pullRequest }) => verdicts.complete(model, call, outcome, pullRequest),
);

const reads = aTarget.map(
  (target) =>
    new Command('get', { target }, async (model, real) => {
      const { execution } = model.targets[target];
      return {
        call: {
          person: 'dan',
          operation: 'deliveryExecutions.getForTarget',
          params: {
            targetType: typeOf(target),
            targetId: real.board.ids[target],
          },
        },
        verdict: {
          kind: 'done',
          apply: () =>
            execution === null ? { execution: null } : verdicts.shown(model.targets[target], execution),
        },
      };
    }),
);

/** Each as often as it stands here. */
export const commands: fc.Arbitrary<Command>[] = [
  ...[acquires, acquires, acquires, acquires, acquires, acquires, expiries, expiries, lapses],
  ...[locks, locks, locks, locksBeside, locksBeside],
  ...[renews, checkpoints, checkpoints, checkpoints, updates, updates, handoffs, handoffs, releases],
  ...[completions, completions, facts, facts, stops, stops, lifts, moves, answers, answers, reads],
];
