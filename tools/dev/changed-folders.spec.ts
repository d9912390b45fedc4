import { expect, it } from '@jest/globals';
import { changedFolders } from './changed-folders.ts';

it('finds projects by their innermost root, and the changed parts of a group', () => {
  const roots = ['libs/one', 'libs/one-more', 'group', 'group/inner', 'group/other'];
  const changed = [
    'README.md',
    'libs/one-more/a.ts',
    'group/inner/a.ts',
    'group/a/b/c.ts',
    'group/other/d/e.ts',
  ];
  expect([...changedFolders(changed, roots, (root) => root === 'group' || root === 'group/other')]).toEqual([
    ['libs/one-more', 'libs/one-more'],
    ['group/inner', 'group/inner'],
    ['group/a', 'group'],
    ['group/other/d', 'group/other'],
  ]);
});
