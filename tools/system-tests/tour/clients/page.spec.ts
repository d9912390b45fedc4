import { expect, it } from '@jest/globals';
import { withTable } from './page.ts';

const page =
  '# Tried\n\n## By a token\n\nWords.\n\n| a |\n| - |\n\n## By signing in\n\n| b |\n| - |\n| 1 |\n';

it('puts a table below its own head, and leaves the rest of the page', () => {
  expect(withTable(page, 'token', '| c |\n| - |\n| 2 |')).toBe(
    '# Tried\n\n## By a token\n\nWords.\n\n| c |\n| - |\n| 2 |\n\n## By signing in\n\n| b |\n| - |\n| 1 |\n',
  );
  expect(withTable(page, 'sign-in', '| d |')).toBe(
    '# Tried\n\n## By a token\n\nWords.\n\n| a |\n| - |\n\n## By signing in\n\n| d |\n',
  );
  expect(() => withTable('# Tried\n', 'token', '| c |')).toThrow('no table below');
});
