import { describe, expect, it } from '@jest/globals';
import { runEventKinds, runStates } from '@muster/contract';
import { decideRunEvent, isFinalRunState, visibleRunState, runStateAfterEvent } from './run-states.ts';

const owner = { memberId: 'ana', agentId: 'robo' };
const finalKinds = ['completed', 'failed', 'canceled'] as const;

describe('the state of a run', () => {
  it('follows from its last event that says one', () => {
    const after = (...kinds: (typeof runEventKinds)[number][]) =>
      kinds.reduce<(typeof runStates)[number] | undefined>(
        (state, kind) => runStateAfterEvent(kind, state),
        undefined,
      );
    for (const kind of ['started', 'heartbeat', 'progress', 'message', 'tool_call'] as const)
      expect([kind, after(kind)]).toEqual([kind, 'running']);
    for (const kind of ['waiting', ...finalKinds] as const) expect(after(kind)).toBe(kind);
    expect(after('waiting', 'heartbeat', 'message')).toBe('waiting');
    expect(after('waiting', 'tool_call')).toBe('running');
    expect(after('waiting', 'progress')).toBe('running');
  });

  it('is final in three ways', () => {
    expect(runStates.filter(isFinalRunState)).toEqual([...finalKinds]);
  });
});

describe('an event', () => {
  it('of a run that goes on is accepted, of whatever kind', () => {
    for (const kind of runEventKinds)
      for (const state of ['running', 'waiting'] as const)
        expect(decideRunEvent({ ...owner, state }, { ...owner, kind, isDuplicateEvent: false })).toBe(
          'accept',
        );
  });

  it('of a run that ended is only its end, again', () => {
    for (const state of finalKinds)
      for (const kind of runEventKinds) {
        const decision = decideRunEvent({ ...owner, state }, { ...owner, kind, isDuplicateEvent: false });
        expect([state, kind, decision]).toEqual([state, kind, kind === state ? 'repeat' : 'ended']);
      }
  });

  it('that is known changes nothing, also after the end', () => {
    for (const state of runStates)
      expect(
        decideRunEvent({ ...owner, state }, { ...owner, kind: 'progress', isDuplicateEvent: true }),
      ).toBe('repeat');
  });

  it('is of whoever began the run, member and agent, and of nobody else', () => {
    const others = [
      { memberId: 'ana', agentId: null },
      { memberId: 'ana', agentId: 'other' },
      { memberId: 'ben', agentId: 'robo' },
    ];
    for (const other of others)
      for (const isKnown of [true, false])
        expect(
          decideRunEvent(
            { ...owner, state: 'running' },
            { ...other, kind: 'heartbeat', isDuplicateEvent: isKnown },
          ),
        ).toBe('not_own');
  });
});

describe('a run is stalled', () => {
  const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 21) + seconds * 1000).toISOString();
  const shown = (seconds: number, isLeased: boolean, state: 'running' | 'waiting' = 'running') =>
    visibleRunState({ state, isLeased, lastSeenAt: at(0), now: at(seconds) });

  it('from 90 seconds of silence on, whatever it was', () => {
    expect([shown(0, false), shown(89.999, false), shown(90, false)]).toEqual([
      'running',
      'running',
      'stalled',
    ]);
    expect([shown(89, false, 'waiting'), shown(90, false, 'waiting')]).toEqual(['waiting', 'stalled']);
  });

  it('never under a live lease', () => {
    expect([shown(90_000, true), shown(90_000, true, 'waiting')]).toEqual(['running', 'waiting']);
  });
});
