/** Commands that format the selected text as Markdown. Each is one step of the undo history. */
import { syntaxTree } from '@codemirror/language';
import {
  type ChangeSpec,
  EditorSelection,
  type EditorState,
  type Line,
  type StateCommand,
} from '@codemirror/state';

type LineFormat = 'heading' | 'list' | 'tasks' | 'quote';
export type Format = 'bold' | 'italic' | 'code' | 'link' | LineFormat;

/** Wraps each selected range in the marker, or removes it where the range is wrapped already. */
const toggleMarker =
  (marker: string): StateCommand =>
  ({ state, dispatch }) => {
    const { length } = marker;
    const ranges = state.changeByRange(({ from, to }) => {
      const isMarked =
        state.sliceDoc(Math.max(0, from - length), from) === marker &&
        state.sliceDoc(to, to + length) === marker;
      if (isMarked)
        return {
          changes: [
            { from: from - length, to: from },
            { from: to, to: to + length },
          ],
          range: EditorSelection.range(from - length, to - length),
        };
      return {
        changes: [
          { from, insert: marker },
          { from: to, insert: marker },
        ],
        range: EditorSelection.range(from + length, to + length),
      };
    });
    dispatch(state.update(ranges, { userEvent: 'input', scrollIntoView: true }));
    return true;
  };

/** Marks code: within a line by backticks, several lines by a fence around them. */
const toggleCode: StateCommand = (target) => {
  const { state, dispatch } = target;
  const { from, to } = state.selection.main;
  const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)];
  if (first.number === last.number) return toggleMarker('`')(target);
  dispatch(
    state.update({
      changes: [
        { from: first.from, insert: '```\n' },
        { from: last.to, insert: '\n```' },
      ],
      // The caret waits for the name of the language.
      selection: { anchor: first.from + 3 },
      ...{ userEvent: 'input', scrollIntoView: true },
    }),
  );
  return true;
};

/** Makes the selection the text of a link, or its address if it is one, and selects the other part. */
const insertLink: StateCommand = ({ state, dispatch }) => {
  const { from, to } = state.selection.main;
  const selected = state.sliceDoc(from, to);
  const isAddress = /^https?:\/\/\S+$/.test(selected);
  const address = isAddress ? selected : 'https://';
  const anchor = isAddress ? from + 1 : from + selected.length + 3;
  dispatch(
    state.update({
      changes: { from, to, insert: `[${isAddress ? '' : selected}](${address})` },
      selection: { anchor, head: isAddress ? anchor : anchor + address.length },
      ...{ userEvent: 'input', scrollIntoView: true },
    }),
  );
  return true;
};

const linePrefixes: Readonly<Record<LineFormat, string>> = {
  heading: '## ',
  list: '- ',
  tasks: '- [ ] ',
  quote: '> ',
};
/** Matches what the format replaces: another heading, or another kind of list. */
const replacedPatterns: Readonly<Record<LineFormat, RegExp>> = {
  heading: /^#{1,6}\s+/,
  list: /^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/,
  tasks: /^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/,
  quote: /^>\s?/,
};
const appliedPatterns: Readonly<Record<LineFormat, RegExp>> = {
  heading: /^## /,
  list: /^[-*+] (?!\[[ xX]\] )/,
  tasks: /^[-*+] \[[ xX]\] /,
  quote: /^>/,
};

function selectedLines(state: EditorState): Line[] {
  const { from, to } = state.selection.main;
  const [first, last] = [state.doc.lineAt(from).number, state.doc.lineAt(to).number];
  const lines = Array.from({ length: last - first + 1 }, (_, index) => state.doc.line(first + index));
  const written = lines.filter(({ text }) => text.trim() !== '');
  return written.length > 0 ? written : lines.slice(0, 1);
}

/** Formats all selected lines, or removes the format if all of them have it. */
const toggleLines =
  (format: LineFormat): StateCommand =>
  ({ state, dispatch }) => {
    const lines = selectedLines(state).map((line) => {
      const text = line.text.trimStart();
      return { from: line.to - text.length, text };
    });
    const isApplied = lines.every(({ text }) => appliedPatterns[format].test(text));
    const changes = lines.map(({ from, text }): ChangeSpec => {
      const { length } = replacedPatterns[format].exec(text)?.[0] ?? '';
      return { from, to: from + length, insert: isApplied ? '' : linePrefixes[format] };
    });
    const set = state.changes(changes);
    dispatch(
      state.update({
        changes: set,
        selection: state.selection.map(set, 1),
        ...{ userEvent: 'input', scrollIntoView: true },
      }),
    );
    return true;
  };

export const formatCommands: Readonly<Record<Format, StateCommand>> = {
  bold: toggleMarker('**'),
  italic: toggleMarker('_'),
  code: toggleCode,
  link: insertLink,
  heading: toggleLines('heading'),
  list: toggleLines('list'),
  tasks: toggleLines('tasks'),
  quote: toggleLines('quote'),
};

const markerPattern = /^(\s*(?:>\s?)*)(?:([-*+])|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?/;

function isInCode(state: EditorState, position: number): boolean {
  for (let node = syntaxTree(state).resolveInner(position, -1); ;) {
    if (/^(?:FencedCode|CodeBlock)$/.test(node.name)) return true;
    if (node.parent === null) return false;
    node = node.parent;
  }
}

/** Continues a list in the next line. Enter in an item without text ends the list. */
export const continueList: StateCommand = ({ state, dispatch }) => {
  const { head, empty } = state.selection.main;
  const line = state.doc.lineAt(head);
  const match = markerPattern.exec(line.text);
  if (match === null || !empty || head < line.from + match[0].length || isInCode(state, head)) return false;
  const [marker, before = '', bullet, number, delimiter = '', space = '', box] = match;
  const isEmptyItem = line.text.length === marker.length;
  const next = `${before}${bullet ?? `${Number(number) + 1}${delimiter}`}${space}${box === undefined ? '' : '[ ] '}`;
  dispatch(
    state.update({
      changes: isEmptyItem
        ? { from: line.from, to: line.to, insert: before }
        : { from: head, insert: `\n${next}` },
      selection: { anchor: isEmptyItem ? line.from + before.length : head + 1 + next.length },
      ...{ userEvent: 'input', scrollIntoView: true },
    }),
  );
  return true;
};
