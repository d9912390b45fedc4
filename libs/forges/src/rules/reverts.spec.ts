import { expect, it } from '@jest/globals';
import { checkEachCase } from '@muster/testing';
import { findReverts, findRevertsInPush } from './reverts.ts';

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
  await checkEachCase(cases, ([text, found]) => {
    expect(findReverts(text, 'acme/api')).toEqual(found);
  });
});

it('finds what the commits of a push revert, by those that are reverts', () => {
  const on = { branch: 'main', defaultBranch: 'main', repository: 'acme/api' };
  const message = `Revert "Land it"\n\nThis reverts commit ${sha}.`;
  const url = `https://github.com/acme/api/commit/${'b'.repeat(40)}`;
  expect(findRevertsInPush([{ message: 'Change' }, { message, url }, { message: null }], on)).toEqual({
    ...{ base: 'main', defaultBranch: 'main', number: null, url, reverts: [sha] },
  });
  const others = [{ message: `Land it\n\nThis reverts commit ${sha}.` }, { message: 'Revert "Land it"' }];
  expect(findRevertsInPush(others, on)).toBeUndefined();
});
