/** Scenes in which two calls compete for a lease. Each has exactly one correct outcome. */
import { type Grant } from '../../calls.ts';
import { without } from '../../guards.ts';
import {
  acquire,
  checkpoint,
  fail,
  merge,
  move,
  offerToBen,
  release,
  renew,
  stop,
  submit,
  takeOver,
} from './acts.ts';
import { type Arranging, type Interleaving, scene } from './stage.ts';

// The row locks that a call takes before it decides anything.
const leasesOfAcquire = without('the leases of an acquire are locked');
const executionsOfAcquire = without('the executions of an acquire are locked');
const leaseOfHolder = without("a holder's lease is locked");
const executionOfHolder = without("a holder's execution is locked");
const fenceOfHolder = without('fence', (fence) => `(true or ${fence})`);

/** Creates only the lease row of the target itself before locking, not the rows of its rivals. */
const rowsOfRivals = [
  without('each unit has its row', (units) => {
    const own = /select '(\w+)' as type/.exec(units)?.[1];
    if (own === undefined) throw new Error('the units are named otherwise');
    return `${units} where u.type = '${own}'`;
  }),
];
const rivalsUnmade = { name: 'without a row for each lease from the start', removals: rowsOfRivals };
const acquireUnlocked = { name: 'without row locks', removals: [leasesOfAcquire, executionsOfAcquire] };
const withoutRowLocks = {
  name: 'without row locks',
  removals: [leasesOfAcquire, executionsOfAcquire, leaseOfHolder, executionOfHolder],
};
const holderUnlocked = { name: 'without row locks', removals: [leaseOfHolder, executionOfHolder] };

/** Chloé holds the first story, but her lease has expired. */
const expired = async (at: Arranging): Promise<Grant> => {
  const grant = await held(at);
  await at.real.expire('s1');
  return grant;
};
const held = (at: Arranging): Promise<Grant> => at.grant('chloe', 's1');
const released = async (at: Arranging): Promise<Grant> => {
  const grant = await held(at);
  await at.must(release, grant);
  return grant;
};
const submitted = async (at: Arranging): Promise<Grant> => {
  const grant = await held(at);
  await at.must(submit, grant);
  return grant;
};

/** Marks a scene whose outcome must change if neither call takes row locks. */
const guarded = <Arranged>(of: Interleaving<Arranged>): Interleaving =>
  scene({ ...of, guards: [withoutRowLocks] });

export const scenes: readonly Interleaving[] = [
  scene({
    name: 'two acquires of an expired lease',
    arrange: expired,
    left: acquire('ana', 's1'),
    right: acquire('ben', 's1'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { attempt: 2, state: 'leased' } },
    expectedEventKinds: ['acquired', 'taken_over', 'acquired'],
    guards: [acquireUnlocked],
  }),
  scene({
    name: 'two acquires of a target that was never held',
    left: acquire('ana', 's3'),
    right: acquire('ben', 's3'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 's3 epoch': 1, 's3 holder': 'ana/ for 900 s', s3: { attempt: 1 } },
  }),
  scene({
    name: 'a story against its group, neither of them held before',
    left: acquire('ana', 's1'),
    right: acquire('ben', 'group'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 's1 holder': 'ana/ for 900 s', 'group holder': null },
    guards: [rivalsUnmade],
  }),
  scene({
    name: 'a group against one of its stories, neither of them held before',
    left: acquire('ana', 'group'),
    right: acquire('ben', 's2'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 'group holder': 'ana/ for 900 s', 's2 holder': null },
    guards: [rivalsUnmade],
  }),
  scene({
    name: 'a story against its group, both held before',
    arrange: async (at) => {
      await at.must(release, await at.grant('chloe', 'group'));
      await released(at);
    },
    left: acquire('ana', 's1'),
    right: acquire('ben', 'group'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 's1 holder': 'ana/ for 900 s', 'group holder': null },
    guards: [acquireUnlocked],
  }),
  scene({
    name: 'two stories of one group',
    left: acquire('ana', 's1'),
    right: acquire('ben', 's2'),
    expectedBoard: { 's1 holder': 'ana/ for 900 s', 's2 holder': 'ben/ for 900 s' },
  }),
  guarded({
    name: `a group takes its story's expired lease, against the late holder's checkpoint`,
    arrange: expired,
    left: acquire('ben', 'group'),
    right: checkpoint,
    expectedRefusal: 'stale_lease',
    expectedBoard: {
      'group holder': 'ben/ for 900 s',
      's1 holder': null,
      s1: { state: 'available', checkpointSeq: 0 },
    },
    expectedEventKinds: ['acquired', 'superseded'],
  }),
  guarded({
    name: `the late holder of a story renews, against its group`,
    arrange: expired,
    left: renew,
    right: acquire('ben', 'group'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 'group holder': null, 's1 holder': 'chloe/ for 900 s', 's1 expired': false },
  }),
  guarded({
    name: 'a late renewal against an acquire',
    arrange: expired,
    left: renew,
    right: acquire('ben', 's1'),
    expectedRefusal: 'lease_held',
    expectedBoard: { 's1 epoch': 1, 's1 holder': 'chloe/ for 900 s', 's1 expired': false },
  }),
  guarded({
    name: 'an acquire against a late renewal',
    arrange: expired,
    left: acquire('ben', 's1'),
    right: renew,
    expectedRefusal: 'stale_lease',
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s' },
  }),
  scene({
    name: 'a checkpoint against a take-over',
    arrange: held,
    left: checkpoint,
    right: takeOver,
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { attempt: 2, checkpointSeq: 1 } },
    expectedEventKinds: ['acquired', 'checkpointed', 'taken_over', 'acquired'],
    guards: [
      withoutRowLocks,
      { name: 'without row locks and the fence', removals: [...withoutRowLocks.removals, fenceOfHolder] },
    ],
  }),
  guarded({
    name: 'a take-over against a checkpoint',
    arrange: held,
    left: takeOver,
    right: checkpoint,
    expectedRefusal: 'stale_lease',
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { checkpointSeq: 0 } },
    expectedEventKinds: ['acquired', 'taken_over', 'acquired'],
  }),
  guarded({
    name: 'a late completion against an acquire',
    arrange: expired,
    left: fail,
    right: acquire('ben', 's1'),
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s', s1: { attempt: 1, state: 'leased' } },
    expectedEventKinds: ['acquired'],
  }),
  guarded({
    name: 'an acquire against a late completion',
    arrange: expired,
    left: acquire('ben', 's1'),
    right: fail,
    expectedRefusal: 'stale_lease',
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s', s1: { attempt: 2, state: 'leased' } },
  }),
  guarded({
    name: 'a stop of work without a holder against an acquire',
    arrange: released,
    left: stop,
    right: acquire('ben', 's1'),
    expectedBoard: { 's1 epoch': 2, s1: { attempt: 1, state: 'leased', stopped: false } },
    expectedEventKinds: ['acquired'],
  }),
  guarded({
    name: 'an acquire against a stop',
    arrange: released,
    left: acquire('ben', 's1'),
    right: stop,
    expectedBoard: { 's1 epoch': 2, s1: { attempt: 2, state: 'leased', stopped: true } },
    expectedEventKinds: ['acquired', 'released', 'acquired', 'stop_requested'],
  }),
  guarded({
    name: 'an offer against a take-over',
    arrange: async (at) => {
      const grant = await held(at);
      await at.must(checkpoint, grant);
      return grant;
    },
    left: offerToBen,
    right: takeOver,
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { attempt: 2, offeredTo: null } },
    expectedEventKinds: ['acquired', 'checkpointed', 'offered', 'acquired'],
  }),
  scene({
    name: 'a repeated release against an acquire',
    arrange: released,
    left: acquire('ben', 's1'),
    right: release,
    expectedBoard: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s', s1: { attempt: 2, state: 'leased' } },
    expectedEventKinds: ['acquired', 'released', 'acquired'],
  }),
  scene({
    name: 'a completion twice, with the story taken up again in between',
    arrange: held,
    left: { ...submit, heldBefore: 'savepoint move' },
    right: submit,
    between: move('s1', 'in_progress'),
    expectedFirstRefusal: 'stale_lease',
    expectedBoard: { 's1 status': 'in_progress', 's1 holder': null, s1: { state: 'submitted' } },
    expectedEventKinds: ['acquired', 'submitted', 'story_changed', 'story_changed'],
  }),
  scene({
    name: 'a checkpoint against the end of the story',
    arrange: held,
    left: checkpoint,
    right: move('s1', 'canceled'),
    expectedBoard: {
      's1 status': 'canceled',
      's1 holder': null,
      s1: { state: 'completed', checkpointSeq: 1 },
    },
    expectedEventKinds: ['acquired', 'checkpointed', 'story_changed', 'completed'],
    guards: [holderUnlocked],
  }),
  scene({
    name: 'the end of a story against a checkpoint',
    arrange: held,
    left: move('s1', 'canceled'),
    right: checkpoint,
    expectedRefusal: 'stale_lease',
    expectedBoard: {
      's1 status': 'canceled',
      's1 holder': null,
      s1: { state: 'completed', checkpointSeq: 0 },
    },
    expectedEventKinds: ['acquired', 'story_changed', 'completed'],
    // The fence of the lease cannot prevent this outcome, because its condition is evaluated on the row as it
    // was before the wait.
    guards: [holderUnlocked],
  }),
  guarded({
    name: 'a merge against an acquire',
    policy: { completeStoryOnMerge: false },
    arrange: submitted,
    left: merge,
    right: acquire('ben', 's1'),
    expectedBoard: { 's1 epoch': 2, s1: { attempt: 1, state: 'leased' } },
    expectedEventKinds: ['acquired'],
  }),
  guarded({
    name: 'an acquire against a merge',
    policy: { completeStoryOnMerge: false },
    arrange: submitted,
    left: acquire('ben', 's1'),
    right: merge,
    expectedBoard: { 's1 epoch': 2, s1: { attempt: 2, state: 'leased' } },
    expectedEventKinds: ['acquired', 'submitted', 'story_changed', 'acquired', 'forge'],
  }),
  scene({
    name: 'a merge that finishes the story against an acquire',
    arrange: submitted,
    left: merge,
    right: acquire('ben', 's1'),
    expectedRefusal: 'invalid_transition',
    expectedBoard: { 's1 status': 'done', 's1 epoch': 1, s1: { state: 'completed', outcome: 'succeeded' } },
    guards: [{ name: 'without a lock on the story', removals: [without('the story of an acquire is held')] }],
  }),
];
