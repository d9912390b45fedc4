/**
 * An editor that preserves a spec's text byte by byte. CodeMirror runs in a shadow root, where the content
 * security policy permits its styles.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { defineLanguageFacet, HighlightStyle, Language, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { GFM, parser } from '@lezer/markdown';
import { useEffect, useRef } from 'react';

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
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', minHeight: '14rem' },
  '.cm-content': { padding: '0.75rem 0', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 0.75rem 0 0.5rem', minWidth: '2rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
});

interface EditorProps {
  readonly label: string;
  /** The initial text. Changes are reported by `onText`; later values of `text` are ignored. */
  readonly initialText: string;
  readonly onTextChange: (text: string) => void;
  readonly onSave: () => void;
}

export default function Editor({ label, initialText, onTextChange, onSave }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ onText: onTextChange, onSave });
  latest.current = { onText: onTextChange, onSave };
  const first = useRef(initialText);
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const save = (): boolean => {
      latest.current.onSave();
      return true;
    };
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          EditorView.lineWrapping,
          markdownLanguage,
          syntaxHighlighting(highlightStyle),
          editorTheme,
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'true' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onText(update.state.doc.toString());
          }),
          // Tab leaves the editor, so that the keyboard is never trapped.
          keymap.of([
            { key: 'Mod-s', run: save },
            { key: 'Mod-Enter', run: save },
            ...defaultKeymap,
            ...historyKeymap,
          ]),
        ],
      }),
    });
    view.focus();
    return () => view.destroy();
  }, [label]);
  return <div ref={place} className="editor" data-editor />;
}
