import { expect, it } from '@jest/globals';
import { checkEach } from '@muster/testing';
import { revertsIn } from './reverts.ts';

const sha = 'a'.repeat(40);
const cases: readonly (readonly [string, readonly [text: string | null, found: readonly string[]]])[] = [
  ['GitHub', ['Reverts acme/api#7', ['7']]],
  ['GitHub, with a reason', ['Reverts Acme/API#7\n\nIt broke sign-in.', ['7']]],
  ['the same repository, not named', ['Reverts #7', ['7']]],
  ['GitLab', ['This reverts merge request !12', ['12']]],
  ['git', [`Revert "Land it"\n\nThis reverts commit ${sha}.`, [sha]]],
  ['several', ['Reverts #7\nReverts #8\nReverts #7', ['7', '8']]],
  ['another repository', ['Reverts acme/web#7', []]],
  ['a short id', ['This reverts commit abc1234', []]],
  ['no beginning of a line', ['It Reverts #7', []]],
  ['a quote', ['> Reverts #7', []]],
  ['indented code', ['    Reverts #7', []]],
  ['a fence', ['```\nReverts #7\n```\nSee above.', []]],
  ['an open fence', ['~~~\nReverts #7', []]],
  ['after a fence', ['```\nReverts #7\n```\nReverts #8', ['8']]],
  ['a comment', ['<!--\nReverts #7\n-->', []]],
  ['nothing', [null, []]],
];

it('finds what a pull request reverts', async () => {
  await checkEach(cases, ([text, found]) => {
    expect(revertsIn(text, 'acme/api')).toEqual(found);
  });
});
