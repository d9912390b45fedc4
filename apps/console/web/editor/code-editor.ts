/**
 * CodeMirror for Markdown. It preserves a text byte by byte, and runs in a shadow root, where the content security
 * policy permits its styles.
 */
import { acceptCompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { defineLanguageFacet, HighlightStyle, Language, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { GFM, parser } from '@lezer/markdown';
import { pastedFiles } from '../files/uploads.tsx';
import { editorTexts } from '../messages/editor.ts';
import { continueList, formatCommands } from './formatting.ts';

const markdownLanguage = new Language(defineLanguageFacet(), parser.configure([GFM]), [], 'markdown');

const highlightStyle = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.monospace, tags.labelName], color: 'var(--violet)' },
  { tag: [tags.processingInstruction, tags.quote, tags.contentSeparator], color: 'var(--muted)' },
]);

const editorTheme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.6', minHeight: 'var(--editor-height)' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 0.75rem', unicodeBidi: 'plaintext' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 0.25rem 0 0.5rem', minWidth: '2rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round)',
    backgroundColor: 'var(--raised)',
    boxShadow: 'var(--shadow-float)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--font)',
    minWidth: 'min(16rem, 90vw)',
    maxWidth: 'min(28rem, 95vw)',
    maxHeight: '16rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    gap: '0.75rem',
    alignItems: 'baseline',
    padding: '0.25rem 0.75rem',
    lineHeight: '1.25rem',
  },
  '.cm-tooltip-autocomplete .cm-completionLabel': {
    flex: '1',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
  },
  '.cm-tooltip-autocomplete .cm-completionDetail': {
    margin: '0',
    color: 'var(--muted)',
    fontStyle: 'normal',
    fontSize: '0.75rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--accent-ink)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': {
    color: 'var(--accent-ink)',
  },
});

interface EditorCallbacks {
  readonly onText: (text: string) => void;
  readonly onSubmit: () => void;
  /** Handles Escape. Returns false to leave the key to the page. */
  readonly onEscape: () => boolean;
  /** Attaches pasted and dropped files; undefined if the author may not. */
  readonly onFiles: ((files: readonly File[]) => void) | undefined;
}

interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly hint: string;
  readonly hasLineNumbers: boolean;
  readonly selection: { readonly anchor: number; readonly head: number };
  readonly suggestions: Extension;
  /** Returns the callbacks of the newest render. */
  readonly callbacks: () => EditorCallbacks;
}

/** Creates an editor in the shadow root of the element. */
export function createCodeEditor(host: HTMLElement, options: EditorOptions): EditorView {
  const { label, text, hint, hasLineNumbers, selection, suggestions, callbacks } = options;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const submit = (): boolean => {
    callbacks().onSubmit();
    return true;
  };
  return new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      selection,
      extensions: [
        ...(hasLineNumbers ? [lineNumbers()] : []),
        history(),
        drawSelection(),
        EditorView.lineWrapping,
        EditorView.perLineTextDirection.of(true),
        markdownLanguage,
        syntaxHighlighting(highlightStyle),
        editorTheme,
        placeholder(hint),
        suggestions,
        EditorState.phrases.of({ Completions: editorTexts.suggestions }),
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'true' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) callbacks().onText(update.state.doc.toString());
        }),
        EditorView.domEventHandlers({
          paste: (event) => {
            const { onFiles } = callbacks();
            const files = onFiles === undefined ? [] : pastedFiles(event);
            onFiles?.(files);
            return files.length > 0;
          },
          // The element around the editor takes dropped files; CodeMirror would insert their text.
          drop: (event) => callbacks().onFiles !== undefined && (event.dataTransfer?.files.length ?? 0) > 0,
        }),
        keymap.of([
          // Tab only accepts a suggestion. Otherwise it leaves the editor, so that the keyboard is never trapped.
          { key: 'Tab', run: acceptCompletion },
          { key: 'Mod-s', run: submit },
          { key: 'Mod-Enter', run: submit },
          { key: 'Mod-b', run: formatCommands.bold },
          { key: 'Mod-i', run: formatCommands.italic },
          { key: 'Mod-e', run: formatCommands.code },
          { key: 'Enter', run: continueList },
          ...defaultKeymap,
          ...historyKeymap,
          { key: 'Escape', run: () => callbacks().onEscape() },
        ]),
      ],
    }),
  });
}
