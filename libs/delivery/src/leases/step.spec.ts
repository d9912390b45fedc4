import { describe, expect, it } from '@jest/globals';
import { executionStates } from '@muster/contract';
import { newExecution } from '../data/acquiring.ts';
import { type ExecutionRow } from '../data/executions.ts';
import { canTransition, type StoredState, type TransitionName, transitions } from './states.ts';
import { applyTransition } from './step.ts';

const fixedTime = '2026-11-21T09:30:00.000Z';
const storedStates = executionStates.filter((state): state is StoredState => state !== 'stalled');
const transitionNames = Object.keys(transitions) as TransitionName[];

/** Returns an execution in this state with all optional columns set. */
const executionIn = (state: StoredState): ExecutionRow => ({
  ...newExecution(
    { type: 'story', id: 's', projectId: 'p', key: 'WEB-1', title: '', status: 'ready', specVersion: 1 },
    fixedTime,
  ),
  state,
  version: 3,
  last_event_seq: 7,
  told_seq: 2,
  waiting_for: 'a question',
  offer: { toMemberId: 'ben', toAgentId: null, note: null, expiresAt: fixedTime },
  needs_rework: true,
  outcome: 'submitted',
  failure: 'timeout',
});

describe('a step of an execution', () => {
  it('leads where its table says, and from nowhere else', () => {
    for (const transition of transitionNames)
      for (const state of storedStates) {
        const { to } = transitions[transition];
        const take = () => applyTransition(executionIn(state), transition, { now: fixedTime });
        if (canTransition(transition, state))
          expect([transition, take().row.state]).toEqual([transition, to ?? state]);
        else expect(take).toThrow(`the transition ${transition} is not possible in the state ${state}`);
      }
  });

  it('that completes leaves nothing open, whoever completes: no question or offer, and nothing to be taken up again', () => {
    const completing = transitionNames.filter((transition) => transitions[transition].to === 'completed');
    expect(completing).toEqual(['finish', 'observeMerge', 'cancel', 'land']);
    for (const transition of completing) {
      const [from] = storedStates.filter((state) => canTransition(transition, state));
      if (from === undefined) throw new Error('it can be done to nothing');
      const { row } = applyTransition(executionIn(from), transition, { now: fixedTime });
      expect(row).toMatchObject({
        ...{ waiting_for: null, offer: null },
        ...{ needs_rework: false, failure: null, completed_at: fixedTime },
      });
    }
  });

  it('frees the locks of the work when it ends or is given up, and never while it is held on', () => {
    const freeing = transitionNames.filter((transition) => transitions[transition].locks.startsWith('free'));
    expect(freeing).toEqual([
      ...['acquire', 'supersede', 'withdrawOffer', 'release', 'submit', 'finish'],
      ...['observeMerge', 'cancel', 'land'],
    ]);
  });

  it('leaves no lease on what is not held afterwards', () => {
    for (const transition of transitionNames) {
      const { to, endsLease } = transitions[transition];
      const wasHeld = canTransition(transition, 'leased');
      const isHeld = to === null ? wasHeld : ['leased', 'waiting_input', 'stalled'].includes(to);
      expect([transition, endsLease]).toEqual([transition, wasHeld && !isHeld]);
    }
  });

  it('numbers its events behind the last, and tells its holder of all of them', () => {
    const taken = applyTransition(executionIn('leased'), 'acquire', {
      now: fixedTime,
      precedingEvents: [{ kind: 'taken_over', data: { live: true } }],
      data: { epoch: 2 },
      isHolderAware: true,
    });
    expect(taken.events).toEqual([
      { kind: 'taken_over', data: { live: true } },
      { kind: 'acquired', data: { epoch: 2 } },
    ]);
    expect(taken.row).toMatchObject({ last_event_seq: 9, told_seq: 9, version: 4, updated_at: fixedTime });
    expect(applyTransition(executionIn('leased'), 'renew', { now: fixedTime }).row).toMatchObject({
      told_seq: 2,
    });
  });
});
