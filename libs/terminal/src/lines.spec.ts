import { describe, expect, it } from '@jest/globals';
import { shortestFolderPath, wrapLines } from './lines.ts';

describe('lines on a terminal', () => {
  const line = `WEB-1  works in ../shop.worktrees/WEB-1-e1-a-story-with-a-long-title, on muster/WEB-1-e1-a-story`;

  it('are broken at spaces where they are too long, and go on indented', () => {
    expect(wrapLines([line], 80, 7)).toEqual([
      'WEB-1  works in ../shop.worktrees/WEB-1-e1-a-story-with-a-long-title, on',
      '       muster/WEB-1-e1-a-story',
    ]);
  });

  it('keep a word that is longer than a line whole, on a line of its own', () => {
    const long = `/${'folder/'.repeat(14)}work`;
    expect(wrapLines([`WEB-1  works in ${long} now`], 80, 7)).toEqual([
      'WEB-1  works in',
      `       ${long}`,
      '       now',
    ]);
  });

  it('count columns, which are two for a wide character', () => {
    expect(wrapLines(['票の名前 票の名前'], 16)).toEqual(['票の名前', '  票の名前']);
  });

  it('stay as they are where nothing has to fit', () => {
    expect(wrapLines([line, 'two\nlines'], undefined)).toEqual([line, 'two', 'lines']);
    expect(wrapLines(['muster import  --map  one'], 80)).toEqual(['muster import  --map  one']);
  });
});

describe('a folder', () => {
  it('is named from where the command runs, from the home folder or whole, whichever is shortest', () => {
    const home = '/home/ana';
    expect(shortestFolderPath('/home/ana/shop.worktrees/WEB-1', '/home/ana/shop', home)).toBe(
      '~/shop.worktrees/WEB-1',
    );
    expect(shortestFolderPath('/srv/shop.worktrees/WEB-1', '/srv/shop', home)).toBe(
      '../shop.worktrees/WEB-1',
    );
    expect(shortestFolderPath('/tmp/a', '/srv/code/of/the/shop', home)).toBe('/tmp/a');
    expect(shortestFolderPath('/srv/shop', '/srv/shop', home)).toBe('.');
  });
});
