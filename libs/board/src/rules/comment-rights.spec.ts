import { expect, it } from '@jest/globals';
import { isAuthor } from './comment-rights.ts';

it.each([
  ['a member their own', ['chloe', null], ['chloe', null], true],
  ["a member their agent's", ['chloe', 'robo'], ['chloe', null], true],
  ['an agent its own', ['chloe', 'robo'], ['chloe', 'robo'], true],
  ["an agent not another agent's", ['chloe', 'robo'], ['chloe', 'helper'], false],
  ["an agent not its member's", ['chloe', null], ['chloe', 'robo'], false],
  ['a member not somebody else’s', ['chloe', null], ['dan', null], false],
] as const)('lets edit: %s', (_, author, caller, allowed) => {
  const who = ([memberId, agentId]: readonly [string, string | null]) => ({ memberId, agentId });
  expect(isAuthor(who(author), who(caller))).toBe(allowed);
});
