import { describe, expect, it } from '@jest/globals';
import { indexActorIds, renderHtml, parseTaskStates, setTaskState } from './markdown-text.ts';

const linkable = { projectKeys: new Set(['WEB']), actorIds: new Map([['ben', 'id-of-ben']]) };
const html = (text: string): string => renderHtml(text, 2, linkable, 'task.').trim();

describe('references', () => {
  it('links keys of known projects and handles of known members', () => {
    expect(html('After **WEB-3**, @Ben and (WEB-4).')).toBe(
      '<p>After <strong><a href="/console/s/WEB-3">WEB-3</a></strong>, ' +
        '<a href="/console/activity?actor=id-of-ben">@Ben</a> and (<a href="/console/s/WEB-4">WEB-4</a>).</p>',
    );
  });

  it('prefers a member, then an own agent, then the oldest agent of the same name', () => {
    const agents = [
      { id: 'new', slug: 'ben', memberId: 'me' },
      { id: 'own', slug: 'coder', memberId: 'me' },
      { id: 'newer', slug: 'coder', memberId: 'chloe' },
      { id: 'newest', slug: 'tester', memberId: 'chloe' },
      { id: 'oldest', slug: 'tester', memberId: 'dan' },
    ];
    expect(Object.fromEntries(indexActorIds([{ id: 'member', handle: 'Ben' }], agents, 'me'))).toEqual({
      ...{ ben: 'member', coder: 'own', tester: 'oldest' },
    });
  });

  it('links nothing in code, links, longer words, addresses and unknown names', () => {
    for (const text of ['`WEB-3`', '[WEB-3](https://example.com)', 'xWEB-3', 'WEB-3a', 'UTF-8', 'WEB-0'])
      expect(html(text)).not.toContain('/console/');
    for (const text of ['a@ben', '@ben.example', '@nobody', 'feat/WEB-3', 'https://example.com/WEB-3'])
      expect(html(text)).not.toContain('/console/');
  });
});

describe('task boxes', () => {
  const text = [
    ...['- [ ] open', '- [x] closed', '  - [ ] nested', '', '```', '- [ ] code', '```', ''],
    ...['> 1. [X] quoted', '', '    - [ ] indented code', '', '* [ ] last', ''],
  ].join('\n');

  it('numbers them in the order of the text', () => {
    expect(parseTaskStates(text)).toEqual([false, true, false, true, false]);
    const values = [...html(text).matchAll(/value="task\.(\d)"( checked)?/g)];
    expect(values.map(([, number, checked]) => [number, checked !== undefined])).toEqual(
      parseTaskStates(text).map((isChecked, at) => [String(at), isChecked]),
    );
  });

  it('changes one of them and nothing else', () => {
    expect(setTaskState(text, 2, true)).toBe(text.replace('  - [ ] nested', '  - [x] nested'));
    expect(setTaskState(text, 3, false)).toBe(text.replace('[X]', '[ ]'));
    expect(setTaskState(text, 4, true)).toBe(text.replace('* [ ] last', '* [x] last'));
    expect(setTaskState(text, 5, true)).toBeUndefined();
  });

  it('keeps the ends of lines as they are', () => {
    expect(setTaskState('- [ ] one\r\n- [ ] two\r\n', 1, true)).toBe('- [ ] one\r\n- [x] two\r\n');
  });
});
