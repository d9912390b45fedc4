/** The full editor: a toolbar, CodeMirror with suggestions, and a preview beside the text or in its place. */
import { useQueryClient } from '@tanstack/react-query';
import { type EditorView } from '@codemirror/view';
import { useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Icon } from '../components/icons.tsx';
import { Markdown } from '../components/markdown.tsx';
import { setTaskState } from '../components/markdown-text.ts';
import { useClient } from '../data/context.ts';
import { AttachButton } from '../files/uploads.tsx';
import { editorTexts } from '../messages/editor.ts';
import { createCodeEditor } from './code-editor.ts';
import { formatCommands } from './formatting.ts';
import { suggestions } from './suggestions.ts';
import { type FieldState, type FullEditorProps } from './text-editor.tsx';
import { Toolbar } from './toolbar.tsx';

/** Replaces the text of the editor outside of what both texts have in common, so that the caret stays. */
function replaceText(view: EditorView, text: string): void {
  const old = view.state.doc.toString();
  const limit = Math.min(old.length, text.length);
  let start = 0;
  while (start < limit && old[start] === text[start]) start += 1;
  let end = 0;
  while (end < limit - start && old.at(-1 - end) === text.at(-1 - end)) end += 1;
  view.dispatch({
    changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) },
  });
}

/** Creates the editor in the returned element. The editor and `text` follow each other. */
function useCodeEditor(props: FullEditorProps) {
  const { label, text, kind, hint, takeOver, insert, projectKey } = props;
  const client = useClient();
  const queries = useQueryClient();
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(props);
  latest.current = props;
  /** Texts that were reported and have not come back as `text` yet. Other values of `text` are changes by the page. */
  const reported = useRef<string[]>([]);
  /** The state of this editor when it is created again. */
  const former = useRef<FieldState>(null);
  // Before the next paint, so that no key press is lost between the plain field and the editor.
  useLayoutEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const { text: initialText, selection, hasFocus } = former.current ?? takeOver();
    const view = createCodeEditor(host, {
      ...{ label, text: initialText, hint: hint ?? '', hasLineNumbers: kind === 'spec' },
      selection,
      suggestions: suggestions({ client, queries, projectKey }),
      callbacks: () => ({
        onText: (next) => {
          reported.current.push(next);
          latest.current.onTextChange(next);
        },
        onSubmit: () => {
          // The page may not have rendered the last key presses yet.
          flushSync(() => latest.current.onTextChange(view.state.doc.toString()));
          latest.current.onSubmit();
        },
        onEscape: () => latest.current.onEscape?.() ?? false,
        onFiles: latest.current.files.add,
      }),
    });
    editor.current = view;
    insert.current = (link) => view.dispatch(view.state.replaceSelection(link));
    if (hasFocus) view.focus();
    return () => {
      former.current = {
        text: view.state.doc.toString(),
        selection: view.state.selection.main,
        hasFocus: view.hasFocus,
      };
      insert.current = null;
      view.destroy();
    };
  }, [client, queries, label, hint, kind, projectKey, insert, takeOver]);
  const known = useRef(text);
  useEffect(() => {
    if (text === known.current) return;
    known.current = text;
    const index = reported.current.indexOf(text);
    reported.current.splice(0, index === -1 ? Number.POSITIVE_INFINITY : index + 1);
    if (index === -1 && editor.current !== null) {
      replaceText(editor.current, text);
      reported.current = [];
    }
  }, [text]);
  return { place, editor };
}

const sideBySide = '(min-width: 64rem)';
/** A longer text is only previewed on request, because rendering it on each change would slow down typing. */
const maxLivePreviewLength = 50_000;

export default function FullEditor(props: FullEditorProps) {
  const { kind, text, maxLength, hasPreview = true, files, onTextChange } = props;
  const { place, editor } = useCodeEditor(props);
  const [wantsPreview, setWantsPreview] = useState(
    kind === 'spec' && text.length <= maxLivePreviewLength && matchMedia(sideBySide).matches,
  );
  const isPreviewed = wantsPreview && hasPreview;
  const previewed = useDeferredValue(text);
  return (
    <div
      className="text-editor"
      data-kind={kind}
      data-over={files.isOver || undefined}
      data-preview={isPreviewed || undefined}
    >
      <div className="editor-bar">
        <Toolbar
          onFormat={(format) => {
            const view = editor.current;
            if (view === null) return;
            formatCommands[format](view);
            view.focus();
          }}
        />
        {files.add !== undefined && <AttachButton label={editorTexts.attach} isQuiet onFiles={files.add} />}
        {hasPreview && (
          <button
            type="button"
            className="button editor-preview-button"
            data-kind="quiet"
            aria-pressed={isPreviewed}
            onClick={() => setWantsPreview(!wantsPreview)}
          >
            <Icon name="eye" size={14} />
            {editorTexts.preview}
          </button>
        )}
      </div>
      <div className="editor-panes">
        <div ref={place} className="editor" data-editor />
        {isPreviewed && (
          <div className="editor-preview" role="region" aria-label={editorTexts.preview} tabIndex={0}>
            {previewed.trim() === '' ? (
              <p className="muted">{editorTexts.nothingToPreview}</p>
            ) : (
              <Markdown
                text={previewed}
                onTaskChange={async (index, isChecked) => {
                  const changed = setTaskState(text, index, isChecked);
                  if (changed !== undefined) onTextChange(changed);
                  return changed !== undefined;
                }}
              />
            )}
          </div>
        )}
      </div>
      {text.length > maxLength && (
        <p className="editor-limit" role="status">
          {editorTexts.tooLong(text.length, maxLength)}
        </p>
      )}
    </div>
  );
}
