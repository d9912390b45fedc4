import { describe, expect, it } from '@jest/globals';
import { formatTable } from './table.ts';

describe('a table', () => {
  it('has columns as wide as what is seen in them, in any script', () => {
    expect(
      formatTable(
        ['NAME', 'ROLE'],
        [
          ['東京の森', 'admin'],
          ['Zoë 👩‍👧', 'member'],
        ],
      ),
    ).toEqual(['NAME      ROLE', '東京の森  admin', 'Zoë 👩‍👧    member']);
  });

  it('lets nobody who has a name write elsewhere on the terminal', () => {
    expect(formatTable(['NAME', 'ROLE'], [['\u001b[2JEve\r\nowner', 'viewer']])).toEqual([
      'NAME       ROLE',
      'Eve owner  viewer',
    ]);
  });

  it('says so where there is nothing', () => {
    expect(formatTable(['NAME'], [])).toEqual(['None.']);
  });
});
