import { expect, it } from '@jest/globals';
import stringWidth from 'string-width';
import { type WatchSnapshot } from './look.ts';
import { formatDuration, formatSnapshot } from './view.ts';

const emptySnapshot: WatchSnapshot = {
  ...{ org: 'Acme', at: '2026-11-21T09:30:00.000Z', projects: new Map([['p', 'WEB']]) },
  ...{ runs: [], executions: [], locks: [] },
};
const locks: WatchSnapshot['locks'] = Array.from({ length: 50 }, (_, place) => ({
  ...{ id: `l${place}`, projectId: 'p', resources: [`src/${place}/**`], mode: 'exclusive' as const },
  holder: { kind: 'member' as const, memberId: 'm', agentId: null, name: 'Ana' },
  ...{ runId: null, executionId: null, storyId: null, reason: null, fencingToken: place },
  ...{ acquiredAt: '2026-11-21T09:00:00.000Z', expiresAt: '2026-11-21T09:35:00.000Z' },
}));

it('says that nobody is at work', () => {
  expect(formatSnapshot(emptySnapshot, { width: undefined, height: undefined, colored: false })).toEqual([
    'Acme · WEB · 09:30:00Z',
    ...['', 'At work', 'No one is at work.', '', 'Leases', 'No one holds a lease.'],
    ...['', 'Locks', 'There are no locks.'],
  ]);
});

it('fits the terminal, and says how much did not', () => {
  const lines = formatSnapshot(
    { ...emptySnapshot, locks },
    { width: 40, height: 24, colored: false, connectionProblem: 'no answer' },
  );
  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(40);
  expect(lines[1]).toBe('no answer');
  expect(lines).toContain('Locks (50)');
  expect(lines.at(-1)).toMatch(/^… and \d+ more$/);
});

it.each([
  [-1000, 'over'],
  [42_000, '42 s'],
  [180_000, '3 min'],
  [7_200_000, '2 h'],
  [432_000_000, '5 d'],
])('says %i ms as %s', (millis, text) => {
  expect(formatDuration(millis)).toBe(text);
});
