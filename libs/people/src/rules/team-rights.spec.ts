import { expect, it } from '@jest/globals';
import { mayChangeTeam } from './team-rights.ts';

it.each([
  ['owner', null, true],
  ['admin', null, true],
  ['admin', 'member', true],
  ['member', 'lead', true],
  ['viewer', 'lead', true],
  ['member', 'member', false],
  ['member', null, false],
  ['viewer', null, false],
] as const)('%s of the organization, %s of the team: %s', (orgRole, teamRole, may) => {
  expect(mayChangeTeam(orgRole, teamRole)).toBe(may);
});
