/**
 * The editor of specs, descriptions and comments. It starts as a plain text field, which can be typed in immediately,
 * and becomes the full editor once that is loaded.
 */
import {
  type ComponentType,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import { importWithRetry } from '../components/lazily.ts';
import { type FilesInText, useFilesInText } from '../files/files-in-text.ts';
import { pastedFiles, RunningUploads } from '../files/uploads.tsx';

export interface TextEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onTextChange: (text: string) => void;
  /** Called for Ctrl-Enter and Ctrl-S, except while files are being uploaded. */
  readonly onSubmit: () => void;
  /** Handles Escape. Returns false to leave the key to the page. */
  readonly onEscape?: () => boolean;
  readonly hint?: string;
  readonly maxLength: number;
  /** The key of the story to which files are attached; undefined if it does not exist yet. */
  readonly storyKey?: string;
  /** The key of the project whose stories and prompts are suggested; empty for text of the organization. */
  readonly projectKey: string;
  /** `spec` is tall, numbers its lines and starts with a preview; `comment` starts with one line until it has the focus. */
  readonly kind: 'spec' | 'text' | 'comment';
  /** The height of an empty field in lines. */
  readonly rows?: number;
  /** True if the editor takes the focus when it appears. */
  readonly takesFocus?: boolean;
  /** False if there is no room for a preview. */
  readonly hasPreview?: boolean;
  /** Reports whether files are being uploaded, whose links the text still lacks. */
  readonly onUploading?: (isUploading: boolean) => void;
}

/** Submits the form of the focused editor, with the checks of the form. */
export const submitFocusedForm = (): void => document.activeElement?.closest('form')?.requestSubmit();

/** Inserts text at the caret of the full editor. */
export type InsertText = (text: string) => void;

/** The state of the plain field when the full editor takes over. */
export interface FieldState {
  readonly text: string;
  readonly selection: { readonly anchor: number; readonly head: number };
  readonly hasFocus: boolean;
}

export interface FullEditorProps extends TextEditorProps {
  /** Returns the state of the plain field, and removes the field. Key presses go to the full editor from then on. */
  readonly takeOver: () => FieldState;
  readonly files: FilesInText;
  readonly insert: RefObject<InsertText | null>;
}

let fullEditor: ComponentType<FullEditorProps> | undefined;
const loadFullEditor = async (): Promise<void> => {
  fullEditor ??= (await importWithRetry(() => import('./full-editor.tsx'))).default;
};

const stateOf = (field: HTMLTextAreaElement): FieldState => ({
  text: field.value,
  selection: { anchor: field.selectionStart, head: field.selectionEnd },
  hasFocus: document.activeElement === field,
});

export function TextEditor(props: TextEditorProps) {
  const { label, text, onTextChange, onEscape, hint, kind, storyKey, onUploading } = props;
  const { takesFocus = kind !== 'comment' } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const insert = useRef<InsertText>(null);
  const [isWanted, setWanted] = useState(kind !== 'comment');
  const [isLoaded, setLoaded] = useState(false);
  const [isPlain, setPlain] = useState(true);
  /** An input method is composing a word in the plain field, which must stay until the word is complete. */
  const [isComposing, setComposing] = useState(false);
  const latest = useRef({ text, onTextChange, onUploading });
  latest.current = { text, onTextChange, onUploading };
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const files = useFilesInText(storyKey, (link) => {
    if (isGone.current) return;
    if (insert.current !== null) insert.current(link);
    else latest.current.onTextChange(latest.current.text + link);
  });
  const isUploading = files.running.length > 0;
  useEffect(() => latest.current.onUploading?.(isUploading), [isUploading]);
  const onSubmit = (): void => {
    if (!isUploading) props.onSubmit();
  };

  useEffect(() => {
    // If the full editor cannot be loaded, the plain field remains.
    if (isWanted && !isLoaded)
      void loadFullEditor().then(
        () => setLoaded(true),
        () => undefined,
      );
  }, [isWanted, isLoaded]);
  const takeOver = useCallback((): FieldState => {
    setPlain(false);
    if (field.current !== null) return stateOf(field.current);
    const { length } = latest.current.text;
    return { text: latest.current.text, selection: { anchor: length, head: length }, hasFocus: false };
  }, []);

  const press = (event: KeyboardEvent): void => {
    const isCommand = event.metaKey || event.ctrlKey;
    if (isCommand && (event.key === 'Enter' || event.key === 's')) onSubmit();
    else if (event.key !== 'Escape' || onEscape?.() !== true) return;
    event.preventDefault();
  };
  const rows = props.rows ?? { comment: text === '' ? 1 : 4, text: 6, spec: 14 }[kind];
  const Full = fullEditor;
  return (
    <div className="text-editor-place" {...files.dropProps}>
      {Full !== undefined && isLoaded && !(isPlain && isComposing) && (
        <Full {...props} {...{ onSubmit, takeOver, files, insert }} />
      )}
      {isPlain && (
        <textarea
          ref={field}
          className="field"
          dir="auto"
          rows={rows}
          autoFocus={takesFocus}
          value={text}
          aria-label={label}
          placeholder={hint}
          onChange={({ target }) => onTextChange(target.value)}
          onFocus={() => setWanted(true)}
          onCompositionStart={() => setComposing(true)}
          onCompositionEnd={() => setComposing(false)}
          onPaste={(event) => files.add?.(pastedFiles(event))}
          onKeyDown={press}
        />
      )}
      <RunningUploads running={files.running} />
    </div>
  );
}
