import { describe, expect, it } from '@jest/globals';
import stringWidth from 'string-width';
import { summarizeWrite, formatList, formatResult } from './show.ts';

const pipedTerminal = { width: undefined, colored: false };
const at = '2026-11-21T09:30:00.000Z';

const story = (number: number, more: object = {}) => ({
  ...{ id: `01936d5c-0000-7000-8000-00000000000${number}`, key: `WEB-${number}`, number, projectId: 'p' },
  ...{
    title: `Story ${number}`,
    status: 'ready',
    rank: 'a0',
    epicId: null,
    labels: ['auth', 'ux'],
    version: 1,
  },
  ...{ createdBy: { kind: 'member', name: 'Ana' }, updatedAt: at, ...more },
});

describe('a table', () => {
  it('starts with what identifies a record and what it is called, and leaves ids and empty columns out', () => {
    expect(formatList([story(1), story(2)], pipedTerminal)).toEqual([
      'KEY    TITLE    STATUS  LABELS    CREATED BY  UPDATED',
      'WEB-1  Story 1  ready   auth, ux  Ana         2026-11-21 09:30Z',
      'WEB-2  Story 2  ready   auth, ux  Ana         2026-11-21 09:30Z',
    ]);
  });

  it('shows the id of what has no other name for itself, whole', () => {
    const id = '01936d5c-0000-7000-8000-000000000001';
    expect(formatList([{ id, mode: 'shared' }], { width: 20, colored: false })).toEqual(['ID', id]);
  });

  it.each([120, 80, 60, 40, 20])(
    'is never wider than a terminal of %i columns, whatever letters are in it',
    (width) => {
      const items = [
        story(1, { title: '日本語のとても長い題名'.repeat(5) }),
        story(2, { title: '👩‍👩‍👧 family '.repeat(9) }),
      ];
      const lines = formatList(items, { width, colored: false });
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
      expect(lines[1]).toMatch(/^WEB-1 /);
    },
  );

  it('is bold only where that can be shown', () => {
    const [head] = formatList([story(1)], { width: undefined, colored: true });
    expect(head).toMatch(/^\u001b\[1mKEY/);
  });

  it('counts the records inside a record, and leaves lists of ids out', () => {
    const id = '01936d5c-0000-7000-8000-000000000001';
    expect(
      formatList([{ key: 'a', replies: [{ body: 'x' }, { body: 'y' }], blockedBy: [id] }], pipedTerminal),
    ).toEqual(['KEY  REPLIES', 'a    2']);
  });

  it('tells what happened by when, who, what, and to which record', () => {
    const id = '01936d5c-0000-7000-8000-000000000001';
    const actor = { kind: 'member', memberId: id, agentId: null, name: 'Ana' };
    const subject = { type: 'story', id, key: 'WEB-1', title: 'Refunds' };
    const happened = { id, kind: 'story.statusChanged', actor, projectId: id, subject, data: {}, at };
    expect(formatList([happened], pipedTerminal)).toEqual([
      'AT                 ACTOR  KIND                 SUBJECT',
      '2026-11-21 09:30Z  Ana    story.statusChanged  WEB-1 Refunds',
    ]);
    const audited = {
      id,
      at,
      actor,
      tokenId: id,
      operation: 'stories.get',
      target: 'WEB-1',
      outcome: 'denied',
    };
    expect(formatList([{ ...audited, reason: 'role', requestId: id }], pipedTerminal)).toEqual([
      'AT                 ACTOR  OPERATION    OUTCOME  TARGET',
      '2026-11-21 09:30Z  Ana    stories.get  role     WEB-1',
    ]);
    const consented = {
      ...{ ...audited, operation: 'connections.consent', outcome: 'allowed', reason: null },
      details: {
        ...{ client: { name: 'Claude Code', host: 'claude.ai' }, agent: { id, name: 'Claude' } },
        ...{ projectIds: null, scopes: ['read', 'write'], expiresAt: '2027-02-19T09:30:00.000Z' },
      },
    };
    expect(formatList([audited, consented], pipedTerminal)).toEqual([
      'AT                 ACTOR  OPERATION            OUTCOME  TARGET  DETAILS',
      '2026-11-21 09:30Z  Ana    stories.get          denied   WEB-1',
      '2026-11-21 09:30Z  Ana    connections.consent  allowed  WEB-1   Claude Code of claude.ai, as Claude, in all projects, read and write, until 2027-02-19 09:30Z',
    ]);
    for (const width of [80, 60, 40])
      for (const line of formatList([happened], { width, colored: false }))
        expect(stringWidth(line)).toBeLessThanOrEqual(width);
  });

  it('says that there is none', () => {
    expect(formatResult({ items: [], nextCursor: null }, pipedTerminal)).toEqual(['None.']);
  });
});

describe('a record', () => {
  it('is names and values, what is inside by its path, long texts below', () => {
    const shown = formatResult(
      {
        story: {
          ...{
            key: 'WEB-1',
            epicId: null,
            labels: [],
            createdBy: { kind: 'member', memberId: 'm', name: 'Ana' },
          },
          ...{
            git: {
              branch: 'b',
              headSha: null,
              pullRequest: { number: 7, url: 'https://example.com', title: null },
            },
          },
          description: 'One\n\n  two\n',
        },
        warnings: [],
      },
      pipedTerminal,
    );
    expect(shown).toEqual([
      'key                     WEB-1',
      'createdBy.kind          member',
      'createdBy.name          Ana',
      'git.branch              b',
      'git.pullRequest.number  7',
      'git.pullRequest.url     https://example.com',
      'createdBy.memberId      m',
      '',
      'description:',
      '  One',
      '',
      '    two',
    ]);
  });

  it('begins with what people call it, and ends with ids', () => {
    const story = {
      id: 'i',
      projectId: 'p',
      priority: 'high',
      status: 'ready',
      title: 'Sign in',
      key: 'WEB-1',
    };
    expect(formatResult({ story }, pipedTerminal).map((line) => line.split(' ')[0])).toEqual([
      ...['key', 'title', 'status', 'priority', 'id', 'projectId'],
    ]);
  });

  it.each([
    ['stories.create', { story: { id: 'i', key: 'WEB-1', title: 'Sign in' } }, 'Created WEB-1: Sign in.'],
    ['teams.update', { team: { id: 'i', name: 'Core\nteam' } }, 'Updated Core team.'],
    ['comments.create', { comment: { id: 'i', body: 'Hm' } }, undefined],
    ['stories.get', { story: { key: 'WEB-1', title: 'Sign in' } }, undefined],
  ])('that was written by %s is said in a sentence', (operation, result, sentence) => {
    expect(summarizeWrite(operation, result)).toBe(sentence);
  });

  it('stands under its name where there are several', () => {
    expect(
      formatResult(
        { leaseToken: 't', execution: { state: 'leased' }, signals: [{ kind: 'stop' }] },
        pipedTerminal,
      ),
    ).toEqual(['leaseToken  t', '', 'execution', '  state  leased', '', 'signals', '  KIND', '  stop']);
  });

  it('stands apart from the values beside it', () => {
    expect(formatResult({ unread: 1, byKind: { mention: 1 } }, pipedTerminal)).toEqual([
      ...['unread  1', '', 'byKind', '  mention  1'],
    ]);
  });

  it('shows what others wrote into a list without letting it steer the terminal', () => {
    const shown = formatResult({ rule: { steps: [{ say: 'a\u009b31m\u202eb' }] } }, pipedTerminal);
    expect(shown).toEqual(['steps  [{"say":"a\\u009b31m\\u202eb"}]']);
  });

  it('that there is none of is none', () => {
    expect(formatResult({ execution: null }, pipedTerminal)).toEqual(['None.']);
  });

  it('that is gone is gone', () => {
    expect(formatResult({ deleted: true }, pipedTerminal)).toEqual(['Deleted.']);
  });
});
