import { describe, expect, it } from '@jest/globals';
import { modes } from '../tools/modes.ts';
import { createViewReader, type ConnectionView } from './narrowing.ts';
import { macros } from '../tools/macros.ts';
import { allTools, toolsets } from '../tools/toolbox.ts';

const views = createViewReader();
const names = (view: ConnectionView): string[] =>
  allTools.filter((tool) => view.listsTool(tool)).map(({ name }) => name);
const listedToolNames = (query: string, headers: Record<string, string> = {}): string[] =>
  names(views(query, headers));
const allToolNames = new Set(listedToolNames('mode=full'));
const callableToolNames = (query: string): string[] => {
  const view = views(query, {});
  return allTools.filter((tool) => view.canCallTool(tool)).map(({ name }) => name);
};

describe('narrowing', () => {
  it('lists the operations and the macros in full mode', () => {
    const unlisted = macros.filter(({ listedIn }) => !listedIn.includes('full')).length;
    expect(allToolNames.size).toBe(allTools.filter(({ kind }) => kind !== 'meta').length - unlisted);
  });

  it.each(['', 'project=WEB', 'exclude=stories_delete', 'readonly=1'])(
    'lists core and takes calls of every operation where no mode is named: %s',
    (query) => {
      expect(listedToolNames(query)).toEqual(listedToolNames(`${query}&mode=core`.replace(/^&/, '')));
      expect(callableToolNames(query)).toEqual(
        expect.arrayContaining(listedToolNames(`${query}&mode=full`.replace(/^&/, ''))),
      );
    },
  );

  it.each(['core', 'search', 'full'])('takes calls of what is listed alone in mode %s', (mode) => {
    expect(callableToolNames(`mode=${mode}`)).toEqual(listedToolNames(`mode=${mode}`));
  });

  it('chooses by toolsets and by tools, in either spelling', () => {
    const chosen = listedToolNames('toolsets=comments,epics&tools=stories.get');
    expect(chosen).toContain('stories_get');
    expect(chosen.every((name) => /^(comments|epics)_|^stories_get$/.test(name))).toBe(true);
    expect(listedToolNames('tools=stories_get')).toEqual(listedToolNames('tools=stories.get'));
  });

  it.each(toolsets)('has something in the toolset %s', (toolset) => {
    expect(listedToolNames(`toolsets=${toolset}`).length).toBeGreaterThan(0);
  });

  it('takes away what is excluded, and macros that would do it', () => {
    const left = listedToolNames('exclude=deliveryExecutions.acquire,stories_delete&mode=full');
    expect(left).not.toContain('stories_delete');
    expect(left).not.toContain('start_work');
    expect(left).toContain('submit_work');
  });

  it('leaves reads alone where it is read-only', () => {
    for (const tool of allTools) {
      const isShown = views('readonly=1&mode=full', {}).allows(tool);
      expect([tool.name, isShown]).toEqual([tool.name, tool.tool.annotations?.readOnlyHint === true]);
    }
  });

  it('never gives more than without it', () => {
    const asked = [
      'toolsets=stories',
      'tools=start_work',
      'exclude=epics_list',
      'readonly=true',
      'project=WEB',
    ];
    for (const query of asked) {
      const narrowed = listedToolNames(`${query}&mode=full`);
      expect(narrowed.filter((name) => !allToolNames.has(name))).toEqual([]);
      for (const other of asked.filter((one) => one !== query)) {
        const both = listedToolNames(`${query}&${other}&mode=full`);
        if (other.startsWith('toolsets') || other.startsWith('tools')) continue;
        expect(both.filter((name) => !narrowed.includes(name) && !query.startsWith('to'))).toEqual([]);
      }
    }
  });

  it('shows in core and search what finds and calls the rest', () => {
    for (const mode of ['core', 'search'])
      expect(listedToolNames(`mode=${mode}`)).toEqual(
        expect.arrayContaining([
          'start_work',
          'submit_work',
          'hand_off_work',
          'search_operations',
          'call_write_operation',
        ]),
      );
    expect(listedToolNames('mode=search').length).toBe(
      4 + macros.filter(({ listedIn }) => listedIn.includes('search')).length,
    );
    expect(listedToolNames('mode=core')).toHaveLength(20);
    expect(listedToolNames('mode=core')).toEqual(
      expect.arrayContaining(['inbox', 'lock_paths', 'next_work', 'wait_for']),
    );
  });

  it('is said by headers too, and the URL wins', () => {
    expect(listedToolNames('', { 'x-mcp-toolsets': 'epics' })).toEqual(listedToolNames('toolsets=epics'));
    expect(
      listedToolNames('toolsets=comments', { 'x-mcp-toolsets': 'epics', 'x-mcp-readonly': '1' }),
    ).toEqual(listedToolNames('toolsets=comments&readonly=1'));
  });

  it.each([
    ['toolset=stories', 'toolsets, tools, exclude, readonly, project, mode'],
    ['toolsets=story', 'stories'],
    ['toolsets=', 'stories'],
    ['tools=stories_lits', 'stories_list'],
    ['exclude=everything', 'stories_list'],
    ['readonly=yes', 'true, false'],
    ['mode=kernel', modes.join(', ')],
    ['project=not a project', 'WEB'],
    ['mode=core&mode=full', 'twice'],
  ])('refuses %s, and names what would do', (query, named) => {
    expect(() => views(query, {})).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        details: expect.objectContaining({
          issues: [expect.objectContaining({ message: expect.stringContaining(named) })],
        }),
      }),
    );
  });

  it.each(['x-mcp-toolset', 'x-mcp-read-only', 'x-mcp-projekt', 'x-mcp-tool'])(
    'refuses %s, which is nearly one of its own',
    (header) => {
      expect(() => views('', { [header]: '1' })).toThrow('is invalid');
    },
  );

  it.each(['x-mcp-proxy-auth', 'x-mcp-auth', 'x-mcp-servers', 'x-mcp-token', 'x-mcp-user'])(
    'leaves %s to the proxy that it belongs to',
    (header) => {
      expect(listedToolNames('', { [header]: 'secret', 'x-mcp-toolsets': 'epics' })).toEqual(
        listedToolNames('toolsets=epics'),
      );
    },
  );
});
