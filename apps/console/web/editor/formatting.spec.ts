import { describe, expect, it } from '@jest/globals';
import { defineLanguageFacet, Language } from '@codemirror/language';
import { EditorState, type StateCommand } from '@codemirror/state';
import { GFM, parser } from '@lezer/markdown';
import { continueList, formatCommands } from './formatting.ts';

const language = new Language(defineLanguageFacet(), parser.configure([GFM]), [], 'markdown');

/** Runs the command. «» marks the selection in both texts. Returns undefined if the command does not apply. */
function run(command: StateCommand, marked: string): string | undefined {
  const anchor = marked.indexOf('«');
  const doc = marked.replace('«', '').replace('»', '');
  let state = EditorState.create({
    ...{ doc, extensions: [language], selection: { anchor, head: marked.indexOf('»') - 1 } },
  });
  const applies = command({ state, dispatch: (transaction) => (state = transaction.state) });
  const { from, to } = state.selection.main;
  const text = state.doc.toString();
  return applies ? `${text.slice(0, from)}«${text.slice(from, to)}»${text.slice(to)}` : undefined;
}

describe('marks', () => {
  it('wraps the selection, and takes the mark away again', () => {
    expect(run(formatCommands.bold, 'a «b» c')).toBe('a **«b»** c');
    expect(run(formatCommands.bold, 'a **«b»** c')).toBe('a «b» c');
    expect(run(formatCommands.italic, '«»')).toBe('_«»_');
    expect(run(formatCommands.code, 'a «b» c')).toBe('a `«b»` c');
  });

  it('puts several lines of code into a fence, with the caret where the language is named', () => {
    expect(run(formatCommands.code, 'x\na«b\nc»d\ny')).toBe('x\n```«»\nab\ncd\n```\ny');
  });

  it('makes a link of words or of an address, and selects what is missing', () => {
    expect(run(formatCommands.link, 'see «docs»')).toBe('see [docs](«https://»)');
    expect(run(formatCommands.link, '«https://example.com/a»')).toBe('[«»](https://example.com/a)');
  });
});

describe('lines', () => {
  it('formats every selected line, and removes the format if all have it', () => {
    expect(run(formatCommands.list, 'o«ne\n\n  tw»o')).toBe('- o«ne\n\n  - tw»o');
    expect(run(formatCommands.list, '- o«ne\n\n  - tw»o')).toBe('o«ne\n\n  tw»o');
    expect(run(formatCommands.quote, '«»')).toBe('> «»');
  });

  it('replaces another kind of list and another level of heading', () => {
    expect(run(formatCommands.tasks, '1. one«»\n')).toBe('- [ ] one«»\n');
    expect(run(formatCommands.list, '- [x] one«»')).toBe('- one«»');
    expect(run(formatCommands.heading, '# one«»')).toBe('## one«»');
  });
});

describe('Enter', () => {
  it('continues lists, task lists and quoted lists', () => {
    expect(run(continueList, '* one«»')).toBe('* one\n* «»');
    expect(run(continueList, '  9) one«»\n')).toBe('  9) one\n  10) «»\n');
    expect(run(continueList, '- [x] one«» two')).toBe('- [x] one\n- [ ] «» two');
    expect(run(continueList, '> - one«»')).toBe('> - one\n> - «»');
  });

  it('ends a list in an item without text', () => {
    expect(run(continueList, '- one\n- «»')).toBe('- one\n«»');
  });

  it('leaves other lines, selections and code alone', () => {
    for (const text of ['one«»', '- «one»', '«»- one', '```\n- one«»\n```', '-one«»'])
      expect(run(continueList, text)).toBeUndefined();
  });
});
