import { expect, it } from '@jest/globals';
import { createView } from '../http/narrowing.ts';
import { type CallerIdentity } from '../tools/rights.ts';
import { toolListFor, cachedToolListText } from './server.ts';
import { toolsets } from '../tools/toolbox.ts';

const viewer: CallerIdentity = {
  token: { scopes: ['read'], agentId: null, projectIds: null, mayReadInbox: false },
  actsFor: { name: 'Dan', org: 'Acme', role: 'viewer' },
  ids: null,
};
const listOf = (given: Readonly<Record<string, string>>) => toolListFor(createView(given), viewer);
/** Compares by identity, so that a failure does not print the long lists. */
const isSame = (one: unknown, other: unknown): boolean => one === other;

it('is one list for all projects that somebody makes up', () => {
  const first = listOf({ project: 'K00001', outputSchema: '1' });
  expect(isSame(listOf({ project: 'K00002', outputSchema: '1' }), first)).toBe(true);
  expect(isSame(listOf({ outputSchema: '1' }), first)).toBe(false);
});

it('is one list for the same choice, in whatever order and words it is made', () => {
  const first = listOf({
    toolsets: 'stories,epics',
    tools: 'projects_list',
    exclude: 'stories_get,epics_list',
  });
  const again = {
    ...{ toolsets: 'epics, stories,epics', tools: 'projects.list' },
    ...{ exclude: 'epics.list,stories.get', readonly: '0', mode: 'full' },
  };
  expect(isSame(listOf(again), first)).toBe(true);
});

it('forgets lists that were shown long ago, so that they never fill the memory', () => {
  const few = { toolsets: 'locks' };
  const first = listOf(few);
  for (const one of toolsets) for (const other of toolsets) listOf({ toolsets: `${one},${other}` });
  expect(isSame(listOf(few), first)).toBe(false);
  expect(isSame(cachedToolListText(listOf(few).tools), cachedToolListText(first.tools))).toBe(true);
});
