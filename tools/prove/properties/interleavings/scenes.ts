/** Who may meet whom over a lease, and the one thing that may come of it. */
import { without } from '../../guards.ts';
import { grants, scene, writes } from './scene.ts';
import { type Arranging, type Grant, type Interleaving } from './stage.ts';

// Where the first one is held: all is locked and decided, and nothing is written yet.
const renews = 'update leases set ttl_seconds';

// The rows that are locked before anything is decided.
const leasesOfAcquire = without('the leases of an acquire are locked');
const executionsOfAcquire = without('the executions of an acquire are locked');
const leaseOfHolder = without("a holder's lease is locked");
const executionOfHolder = without("a holder's execution is locked");
const fenceOfHolder = without('fence', (fence) => `(true or ${fence})`);

/** Only its own row is made before it is locked: the first of the units. */
const rowsOfRivals = [
  without('each unit has its row', (units) => {
    const own = /select '(\w+)' as type/.exec(units)?.[1];
    if (own === undefined) throw new Error('the units are named otherwise');
    return `${units} where u.type = '${own}'`;
  }),
];
const rivalsUnmade = { name: 'without a row for each lease from the start', removals: rowsOfRivals };
const acquireUnlocked = { name: 'without row locks', removals: [leasesOfAcquire, executionsOfAcquire] };
const bothUnlocked = {
  name: 'without row locks',
  removals: [leasesOfAcquire, executionsOfAcquire, leaseOfHolder, executionOfHolder],
};
const holderUnlocked = { name: 'without row locks', removals: [leaseOfHolder, executionOfHolder] };

/** Chloé has the first story, and her time is over. */
const expired = async (at: Arranging): Promise<Grant> => {
  const grant = await at.grant('chloe', 's1');
  await at.real.expire('s1');
  return grant;
};
const held = (at: Arranging): Promise<Grant> => at.grant('chloe', 's1');
const released = async (at: Arranging): Promise<Grant> => {
  const grant = await held(at);
  await at.hold('release', grant);
  return grant;
};
const submitted = async (at: Arranging): Promise<Grant> => {
  const grant = await held(at);
  await at.hold('complete', grant, handedIn);
  return grant;
};
const handedIn = {
  outcome: 'submitted',
  pullRequest: { number: 17, url: 'https://example.com/pull/17' },
};
const nothing = async (): Promise<null> => null;

export const scenes: readonly Interleaving[] = [
  scene({
    name: 'two acquires of an expired lease',
    arrange: expired,
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 's1'),
    right: (hand) => hand.acquire('ben', 's1'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { attempt: 2, state: 'leased' } },
    stream: ['acquired', 'taken_over', 'acquired'],
    guards: [acquireUnlocked],
  }),
  scene({
    name: 'two acquires of a target that was never held',
    arrange: nothing,
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 's3'),
    right: (hand) => hand.acquire('ben', 's3'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 's3 epoch': 1, 's3 holder': 'ana/ for 900 s', s3: { attempt: 1 } },
  }),
  scene({
    name: 'a story against its group, neither of them held before',
    arrange: nothing,
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 's1'),
    right: (hand) => hand.acquire('ben', 'group'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 's1 holder': 'ana/ for 900 s', 'group holder': null },
    guards: [rivalsUnmade],
  }),
  scene({
    name: 'a group against one of its stories, neither of them held before',
    arrange: nothing,
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 'group'),
    right: (hand) => hand.acquire('ben', 's2'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 'group holder': 'ana/ for 900 s', 's2 holder': null },
    guards: [rivalsUnmade],
  }),
  scene({
    name: 'a story against its group, both held before',
    arrange: async (at) => {
      await at.hold('release', await at.grant('chloe', 'group'));
      await released(at);
    },
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 's1'),
    right: (hand) => hand.acquire('ben', 'group'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 's1 holder': 'ana/ for 900 s', 'group holder': null },
    guards: [acquireUnlocked],
  }),
  scene({
    name: 'two stories of one group',
    arrange: nothing,
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 's1'),
    right: (hand) => hand.acquire('ben', 's2'),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 holder': 'ana/ for 900 s', 's2 holder': 'ben/ for 900 s' },
  }),
  scene({
    name: `a group takes its story's expired lease, against the late holder's checkpoint`,
    arrange: expired,
    heldBefore: grants,
    left: (hand) => hand.acquire('ben', 'group'),
    right: (hand, grant) => hand.hold('checkpoint', grant, { summary: 'Half' }),
    allowed: { left: 'done', right: 'stale_lease' },
    after: {
      'group holder': 'ben/ for 900 s',
      's1 holder': null,
      s1: { state: 'available', checkpointSeq: 0 },
    },
    stream: ['acquired', 'superseded'],
    guards: [bothUnlocked],
  }),
  scene({
    name: `the late holder of a story renews, against its group`,
    arrange: expired,
    heldBefore: renews,
    left: (hand, grant) => hand.hold('renew', grant),
    right: (hand) => hand.acquire('ben', 'group'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 'group holder': null, 's1 holder': 'chloe/ for 900 s', 's1 expired': false },
    guards: [bothUnlocked],
  }),
  scene({
    name: 'a late renewal against an acquire',
    arrange: expired,
    heldBefore: renews,
    left: (hand, grant) => hand.hold('renew', grant),
    right: (hand) => hand.acquire('ben', 's1'),
    allowed: { left: 'done', right: 'lease_held' },
    after: { 's1 epoch': 1, 's1 holder': 'chloe/ for 900 s', 's1 expired': false },
    guards: [bothUnlocked],
  }),
  scene({
    name: 'an acquire against a late renewal',
    arrange: expired,
    heldBefore: grants,
    left: (hand) => hand.acquire('ben', 's1'),
    right: (hand, grant) => hand.hold('renew', grant),
    allowed: { left: 'done', right: 'stale_lease' },
    after: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s' },
    guards: [bothUnlocked],
  }),
  scene({
    name: 'a checkpoint against a take-over',
    arrange: held,
    heldBefore: writes,
    left: (hand, grant) => hand.hold('checkpoint', grant, { summary: 'Half' }),
    right: (hand) => hand.acquire('ana', 's1', { takeOver: true }),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { attempt: 2, checkpointSeq: 1 } },
    stream: ['acquired', 'checkpointed', 'taken_over', 'acquired'],
    guards: [
      bothUnlocked,
      { name: 'without row locks and the fence', removals: [...bothUnlocked.removals, fenceOfHolder] },
    ],
  }),
  scene({
    name: 'a take-over against a checkpoint',
    arrange: held,
    heldBefore: grants,
    left: (hand) => hand.acquire('ana', 's1', { takeOver: true }),
    right: (hand, grant) => hand.hold('checkpoint', grant, { summary: 'Half' }),
    allowed: { left: 'done', right: 'stale_lease' },
    after: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { checkpointSeq: 0 } },
    stream: ['acquired', 'taken_over', 'acquired'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'a late completion against an acquire',
    arrange: expired,
    heldBefore: writes,
    left: (hand, grant) => hand.hold('complete', grant, { outcome: 'failed' }),
    right: (hand) => hand.acquire('ben', 's1'),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s', s1: { attempt: 1, state: 'leased' } },
    stream: ['acquired'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'an acquire against a late completion',
    arrange: expired,
    heldBefore: grants,
    left: (hand) => hand.acquire('ben', 's1'),
    right: (hand, grant) => hand.hold('complete', grant, { outcome: 'failed' }),
    allowed: { left: 'done', right: 'stale_lease' },
    after: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s', s1: { attempt: 2, state: 'leased' } },
    guards: [bothUnlocked],
  }),
  scene({
    name: 'a stop of work without a holder against an acquire',
    arrange: released,
    heldBefore: writes,
    left: (hand, { executionId }) => hand.stop('ana', executionId),
    right: (hand) => hand.acquire('ben', 's1'),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, s1: { attempt: 1, state: 'leased', stopped: false } },
    stream: ['acquired'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'an acquire against a stop',
    arrange: released,
    heldBefore: grants,
    left: (hand) => hand.acquire('ben', 's1'),
    right: (hand, { executionId }) => hand.stop('ana', executionId),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, s1: { attempt: 2, state: 'leased', stopped: true } },
    stream: ['acquired', 'released', 'acquired', 'stop_requested'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'an offer against a take-over',
    arrange: async (at) => {
      const grant = await held(at);
      await at.hold('checkpoint', grant, { summary: 'Half' });
      return { grant, addressee: at.real.addressee('ben') };
    },
    heldBefore: writes,
    left: (hand, { grant, addressee }) => hand.hold('handoff', grant, addressee),
    right: (hand) => hand.acquire('ana', 's1', { takeOver: true }),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, 's1 holder': 'ana/ for 900 s', s1: { attempt: 2, offeredTo: null } },
    stream: ['acquired', 'checkpointed', 'offered', 'acquired'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'a repeated release against an acquire',
    arrange: released,
    heldBefore: grants,
    left: (hand) => hand.acquire('ben', 's1'),
    right: (hand, grant) => hand.hold('release', grant),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, 's1 holder': 'ben/ for 900 s', s1: { attempt: 2, state: 'leased' } },
    stream: ['acquired', 'released', 'acquired'],
  }),
  scene({
    name: 'a completion twice, with the story taken up again in between',
    arrange: held,
    heldBefore: 'savepoint move',
    left: (hand, grant) => hand.hold('complete', grant, handedIn),
    right: (hand, grant) => hand.hold('complete', grant, handedIn),
    between: async (at) => {
      await at.move('ana', 's1', 'in_progress');
    },
    allowed: { left: 'stale_lease', right: 'done' },
    after: { 's1 status': 'in_progress', 's1 holder': null, s1: { state: 'submitted' } },
    stream: ['acquired', 'submitted', 'story_changed', 'story_changed'],
  }),
  scene({
    name: 'a checkpoint against the end of the story',
    arrange: held,
    heldBefore: writes,
    left: (hand, grant) => hand.hold('checkpoint', grant, { summary: 'Half' }),
    right: (hand) => hand.move('ana', 's1', 'canceled'),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 status': 'canceled', 's1 holder': null, s1: { state: 'completed', checkpointSeq: 1 } },
    stream: ['acquired', 'checkpointed', 'story_changed', 'completed'],
    guards: [holderUnlocked],
  }),
  scene({
    name: 'the end of a story against a checkpoint',
    arrange: held,
    heldBefore: 'commit',
    left: (hand) => hand.move('ana', 's1', 'canceled'),
    right: (hand, grant) => hand.hold('checkpoint', grant, { summary: 'Half' }),
    allowed: { left: 'done', right: 'stale_lease' },
    after: { 's1 status': 'canceled', 's1 holder': null, s1: { state: 'completed', checkpointSeq: 0 } },
    stream: ['acquired', 'story_changed', 'completed'],
    // The fence alone does not hold: it is read as of before the wait.
    guards: [holderUnlocked],
  }),
  scene({
    name: 'a merge against an acquire',
    policy: { completeStoryOnMerge: false },
    arrange: submitted,
    heldBefore: writes,
    left: (hand, { executionId }) => hand.observe('ana', executionId, 'pr_merged'),
    right: (hand) => hand.acquire('ben', 's1'),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, s1: { attempt: 1, state: 'leased' } },
    stream: ['acquired'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'an acquire against a merge',
    policy: { completeStoryOnMerge: false },
    arrange: submitted,
    heldBefore: grants,
    left: (hand) => hand.acquire('ben', 's1'),
    right: (hand, { executionId }) => hand.observe('ana', executionId, 'pr_merged'),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 epoch': 2, s1: { attempt: 2, state: 'leased' } },
    stream: ['acquired', 'submitted', 'story_changed', 'acquired', 'forge'],
    guards: [bothUnlocked],
  }),
  scene({
    name: 'a merge that finishes the story against an acquire',
    arrange: submitted,
    heldBefore: writes,
    left: (hand, { executionId }) => hand.observe('ana', executionId, 'pr_merged'),
    right: (hand) => hand.acquire('ben', 's1'),
    allowed: { left: 'done', right: 'invalid_transition' },
    after: { 's1 status': 'done', 's1 epoch': 1, s1: { state: 'completed', outcome: 'succeeded' } },
    guards: [{ name: 'without a lock on the story', removals: [without('the story of an acquire is held')] }],
  }),
];
