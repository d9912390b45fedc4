/** Locks and their work, claims and their claimants: who may meet whom, and the one thing that may come of it. */
import { never, without } from '../../guards.ts';
import { grants, scene, writes } from './scene.ts';
import { type Arranging, type Grant, type Interleaving, resultOf } from './stage.ts';

/** Chloé has the first story and has locked its files, and the time of both is over. */
const lapsed = async (at: Arranging): Promise<Grant> => {
  const grant = await at.grant('chloe', 's1');
  resultOf(await at.lock('chloe', 's1', grant));
  await at.real.expire('s1');
  return grant;
};
const worksOfLapsedLocks = without('the work of lapsed locks is held');
const claimantUnlocked = without('a claimant stays a member');
const agentUnlocked = without('an agent that claims is not retired');

export const claimScenes: readonly Interleaving[] = [
  scene({
    name: `a late checkpoint against another's lock on the same files`,
    arrange: lapsed,
    heldBefore: writes,
    left: (hand, grant) => hand.hold('checkpoint', grant, { summary: 'Half' }),
    right: (hand) => hand.lock('ben', 's1'),
    allowed: { left: 'done', right: 'lock_held' },
    after: { 's1 expired': false, s1: { lock: 'chloe', lockLapsed: false, lockIsShort: false } },
    stream: ['acquired', 'checkpointed'],
    guards: [{ name: 'without a lock on the work of lapsed locks', removals: [worksOfLapsedLocks] }],
  }),
  scene({
    name: 'a lock against the late renewal of one on the same files',
    arrange: lapsed,
    heldBefore: 'insert into locks',
    left: (hand) => hand.lock('ben', 's1'),
    right: (hand, grant) => hand.hold('renew', grant),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 expired': false, s1: { lock: null } },
    stream: ['acquired', 'lock_conflict'],
    guards: [
      {
        name: 'without removing the locks that it overrides',
        removals: [without('a grant takes out what it passes over', never)],
      },
    ],
  }),
  scene({
    name: 'an acquire against the removal of its member',
    arrange: (at) => at.newcomer(),
    heldBefore: grants,
    left: (hand, { newcomer, board }) =>
      hand.call(newcomer, 'deliveryExecutions.acquire', { targetType: 'story', targetId: board.ids.s1 }),
    right: (hand, { newcomer, admin }) =>
      hand.call(admin, 'members.removeMember', { memberId: newcomer.memberId }),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 holder': null, s1: { state: 'available' } },
    stream: ['acquired', 'released'],
    guards: [{ name: 'without a lock on the membership', removals: [claimantUnlocked] }],
  }),
  scene({
    name: 'a lock on files against the removal of its member',
    arrange: (at) => at.newcomer(),
    heldBefore: 'insert into locks',
    left: (hand, { newcomer, board }) =>
      hand.call(newcomer, 'locks.acquire', { projectId: board.projectId, resources: ['s1/**'] }),
    right: (hand, { newcomer, admin }) =>
      hand.call(admin, 'members.removeMember', { memberId: newcomer.memberId }),
    allowed: { left: 'done', right: 'done' },
    after: {},
    guards: [{ name: 'without a lock on the membership', removals: [claimantUnlocked] }],
  }),
  scene({
    name: 'an acquire by an agent against its retirement',
    arrange: (at) => at.newcomer(),
    heldBefore: grants,
    left: (hand, { agent, board }) =>
      hand.call(agent, 'deliveryExecutions.acquire', { targetType: 'story', targetId: board.ids.s1 }),
    right: (hand, { agent, admin }) => hand.call(admin, 'agents.retire', { agentId: agent.agentId }),
    allowed: { left: 'done', right: 'done' },
    after: { 's1 holder': null, s1: { state: 'available' } },
    stream: ['acquired', 'released'],
    guards: [{ name: 'without a lock on the agent', removals: [agentUnlocked] }],
  }),
  scene({
    name: 'a lock on files by an agent against its retirement',
    arrange: (at) => at.newcomer(),
    heldBefore: 'insert into locks',
    left: (hand, { agent, board }) =>
      hand.call(agent, 'locks.acquire', { projectId: board.projectId, resources: ['s1/**'] }),
    right: (hand, { agent, admin }) => hand.call(admin, 'agents.retire', { agentId: agent.agentId }),
    allowed: { left: 'done', right: 'done' },
    after: {},
    guards: [{ name: 'without a lock on the agent', removals: [agentUnlocked] }],
  }),
];
