import { describe, expect, it } from '@jest/globals';
import { registry } from '@muster/registry';
import { leanAnswer, leanWork } from './lean.ts';
import { relativeTime } from './relative-time.ts';

const now = Date.parse('2026-11-21T09:30:00.000Z');
const inTenMinutes = '2026-11-21T09:40:00.000Z';
const id = '01936d5c-0000-7000-8000-000000000090';
const robo = { kind: 'agent', memberId: id, agentId: id, name: 'Robo' };
const ana = { id, name: 'Ana', handle: 'ana' };

const lease = {
  ...{ holder: robo, runId: 'run-1', epoch: 1, ttlSeconds: 900 },
  ...{ expiresAt: inTenMinutes, renewBy: inTenMinutes },
};
const checkpoint = {
  seq: 2,
  summary: 'Half',
  nextSteps: ['Rest'],
  filesTouched: [],
  data: { at: inTenMinutes },
};
const execution = {
  ...{ id, projectId: id, targetType: 'story', targetId: id, state: 'leased', phase: null, progress: 0 },
  ...{ attempt: 1, specVersion: 1, lease, offer: null, checkpoint, deviceId: null, runId: 'run-1' },
  ...{ needsRework: false, lastEventSeq: 4, createdAt: inTenMinutes, updatedAt: inTenMinutes, version: 2 },
};

describe('a lean answer', () => {
  it('leaves out nulls, empty lists, ids of what has a name, and what only programs need', () => {
    const story = {
      ...{ id, key: 'WEB-1', number: 1, projectId: id, title: 'One', columnId: id, rank: 'a', labels: [] },
      ...{ estimate: null, epicId: null, git: { branch: null }, createdBy: robo, version: 3 },
      ...{ createdAt: inTenMinutes, updatedAt: inTenMinutes },
    };
    expect(leanAnswer(registry.stories.get, { storyId: 'WEB-1' }, { story }, now)).toEqual({
      story: { id, key: 'WEB-1', title: 'One', createdBy: { kind: 'agent', name: 'Robo' }, version: 3 },
    });
  });

  it('keeps empty lists of its own, and a first null, which means none', () => {
    const { list } = registry.stories;
    expect(leanAnswer(list, { projectId: 'WEB' }, { items: [], nextCursor: null }, now)).toEqual({
      items: [],
    });
    const { getForTarget } = registry.deliveryExecutions;
    const asked = { targetType: 'story', targetId: 'WEB-1' };
    expect(leanAnswer(getForTarget, asked, { execution: null }, now)).toEqual({ execution: null });
  });

  it('names a project where the call names none', () => {
    const items = [{ runId: 'a', agent: null, member: ana, projectId: id, lastSeenAt: inTenMinutes }];
    const { listActive } = registry.agents;
    const member = { name: 'Ana', handle: 'ana' };
    const shown = { runId: 'a', member, lastSeenAt: 'in 10 min' };
    expect(leanAnswer(listActive, {}, { items }, now)).toEqual({ items: [{ ...shown, projectId: id }] });
    expect(leanAnswer(listActive, { projectId: 'WEB' }, { items }, now)).toEqual({ items: [shown] });
  });

  it('changes nothing in what callers wrote', () => {
    const data = { at: inTenMinutes, none: null, projectId: id, list: [] };
    const items = [{ id, kind: 'comment', body: inTenMinutes, author: robo, createdAt: inTenMinutes }];
    expect(leanAnswer(registry.comments.list, { storyId: 'WEB-1' }, { items }, now)).toEqual({
      items: [
        {
          ...{ id, kind: 'comment', body: inTenMinutes, createdAt: 'in 10 min' },
          author: { kind: 'agent', name: 'Robo' },
        },
      ],
    });
    const held = { ...execution, checkpoint: { ...checkpoint, data } };
    expect(
      leanAnswer(registry.deliveryExecutions.get, { executionId: id }, { execution: held }, now),
    ).toMatchObject({ execution: { checkpoint: { data } } });
    const next = { operation: 'stories.get', params: { storyId: id, note: null } };
    const item = { seq: 1, kind: 'mention', actor: robo, story: { id, key: 'WEB-1', title: 'One' }, next };
    expect(leanAnswer(registry.agents.inbox, {}, { items: [item], cursor: 1 }, now)).toMatchObject({
      items: [{ story: { key: 'WEB-1', title: 'One' }, next }],
    });
  });

  it('to a holder has the changes of the work alone', () => {
    const answer = { execution, signals: [] };
    const args = { executionId: id, leaseToken: 'lse_1', summary: 'Half' };
    const shown = { epoch: 1, expiresAt: 'in 10 min', renewBy: 'in 10 min' };
    expect(leanAnswer(registry.deliveryExecutions.checkpoint, args, answer, now)).toEqual({
      execution: { id, state: 'leased', lease: shown, checkpoint: { seq: 2 } },
      signals: [],
    });
    expect(leanWork({}, { ...answer, leaseToken: 'lse_1' }, now)).toMatchObject({
      execution: { id, runId: 'run-1', lease: shown, checkpoint: { summary: 'Half', nextSteps: ['Rest'] } },
      leaseToken: 'lse_1',
    });
  });

  it('does not repeat long texts of the call', () => {
    const content = 'A line of the spec.\n'.repeat(20);
    const { update } = registry.storySpec;
    const write = (text: string) =>
      leanAnswer(update, { storyId: 'WEB-1', content: text }, { spec: { version: 2, content: text } }, now);
    expect(write(content)).toEqual({ spec: { version: 2 } });
    expect(write('Short')).toEqual({ spec: { version: 2, content: 'Short' } });
  });
});

it.each([
  ['2026-11-21T09:30:00.400Z', 'now'],
  ['2026-11-21T09:30:45.000Z', 'in 45 s'],
  ['2026-11-21T09:31:30.000Z', 'in 90 s'],
  ['2026-11-21T09:44:59.900Z', 'in 14 min'],
  ['2026-11-21T08:00:00.000Z', '90 min ago'],
  ['2026-11-20T09:30:00.000Z', '24 h ago'],
  ['2026-11-24T10:30:00.000Z', 'in 3 d'],
  ['2025-11-24T10:30:00.000Z', '2025-11-24'],
  ['2026-13-45T10:30:00.000Z', '2026-13-45T10:30:00.000Z'],
  ['tomorrow', 'tomorrow'],
])('the time %s is %s', (text, relative) => {
  expect(relativeTime(text, now)).toBe(relative);
});
