/**
 * Scenes in which locks compete with executions, and claims with the removal of their claimants. Each scene
 * has exactly one correct outcome.
 */
import { type CallSet, type Grant } from '../../calls.ts';
import { never, without } from '../../guards.ts';
import { type TestUser } from '../../organization.ts';
import { joinForAWhile, type NewCall } from '../../team.ts';
import { acquire, checkpoint, lockAs, lockForWork, renew } from './acts.ts';
import { type Arranging, type Interleaving, scene } from './stage.ts';

/** Chloé holds the first story and has locked its files, but her lease and her lock have expired. */
const lapsed = async (at: Arranging): Promise<Grant> => {
  const grant = await at.grant('chloe', 's1');
  await at.must(lockForWork, grant);
  await at.real.expire('s1');
  return grant;
};

type Guests = Awaited<ReturnType<typeof joinForAWhile>>;

interface LeaveCase {
  readonly by: string;
  readonly against: string;
  /** Selects the person who makes the claim: the added member or their agent. */
  readonly claimant: (guests: Guests) => TestUser;
  readonly leave: (calls: CallSet, guests: Guests) => NewCall;
  readonly guard: { readonly name: string; readonly removals: readonly ReturnType<typeof without>[] };
}

/** The events by which a claimant loses the right to a claim. */
const leaveCases: readonly LeaveCase[] = [
  {
    by: '',
    against: 'the removal of its member',
    claimant: ({ newcomer }) => newcomer,
    leave: (calls, { admin, newcomer }) => calls.removeMember(admin, newcomer),
    guard: {
      name: 'without a lock on the membership',
      removals: [without('a claimant stays a member')],
    },
  },
  {
    by: ' by an agent',
    against: 'its retirement',
    claimant: ({ agent }) => agent,
    leave: (calls, { admin, agent }) => calls.retire(admin, agent),
    guard: {
      name: 'without a lock on the agent',
      removals: [without('an agent that claims is not retired')],
    },
  },
];

const scenesOf = ({ by, against, claimant, leave, guard }: LeaveCase): Interleaving[] => {
  const common = {
    arrange: ({ real }: Arranging) => joinForAWhile(real.board.team),
    right: { call: leave, heldBefore: '' },
    guards: [guard],
  };
  return [
    scene({
      ...common,
      name: `an acquire${by} against ${against}`,
      left: { ...acquire('ben', 's1'), call: (calls, guests) => calls.acquire(claimant(guests), 's1') },
      expectedBoard: { 's1 holder': null, s1: { state: 'available' } },
      expectedEventKinds: ['acquired', 'released'],
    }),
    scene({
      ...common,
      name: `a lock on files${by} against ${against}`,
      left: { ...lockAs('ben'), call: (calls, guests) => calls.lock(claimant(guests), 's1/**') },
    }),
  ];
};

export const claimScenes: readonly Interleaving[] = [
  scene({
    name: `a late checkpoint against another's lock on the same files`,
    arrange: lapsed,
    left: checkpoint,
    right: lockAs('ben'),
    expectedRefusal: 'lock_held',
    expectedBoard: { 's1 expired': false, s1: { lock: 'chloe', lockLapsed: false, lockIsShort: false } },
    expectedEventKinds: ['acquired', 'checkpointed'],
    guards: [
      {
        name: 'without a lock on the work of lapsed locks',
        removals: [without('the work of lapsed locks is held')],
      },
    ],
  }),
  scene({
    name: 'a lock against the late renewal of one on the same files',
    arrange: lapsed,
    left: lockAs('ben'),
    right: renew,
    expectedBoard: { 's1 expired': false, s1: { lock: null } },
    expectedEventKinds: ['acquired', 'lock_conflict'],
    guards: [
      {
        name: 'without removing the locks that it overrides',
        removals: [without('a grant takes out what it passes over', never)],
      },
    ],
  }),
  ...leaveCases.flatMap(scenesOf),
];
