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
  /** Called for Ctrl-Enter and Ctrl-S. */
  readonly onSubmit: () => void;
  /** Handles Escape. Returns false to leave the key to the page. */
  readonly onEscape?: () => boolean;
  readonly hint?: string;
  readonly maxLength: number;
  /** The key of the story to which files are attached; undefined if it does not exist yet. */
  readonly storyKey?: string;
  /** The key of the project whose stories and prompts are suggested. */
  readonly projectKey: string;
  /** `spec` is tall, numbers its lines and starts with a preview; `comment` starts with one line until it has the focus. */
  readonly kind: 'spec' | 'text' | 'comment';
  /** The height of an empty field in lines. */
  readonly rows?: number;
  /** False if there is no room for a preview. */
  readonly hasPreview?: boolean;
  /** Reports whether files are being uploaded, whose links the text still lacks. */
  readonly onUploading?: (isUploading: boolean) => void;
}

/** Inserts text at the caret of the full editor. */
export type InsertText = (text: string) => void;

export interface FullEditorProps extends TextEditorProps {
  readonly selection: { readonly anchor: number; readonly head: number };
  readonly hasFocus: boolean;
  readonly files: FilesInText;
  readonly insert: RefObject<InsertText | null>;
}

let fullEditor: ComponentType<FullEditorProps> | undefined;
const loadFullEditor = async (): Promise<void> => {
  fullEditor ??= (await importWithRetry(() => import('./full-editor.tsx'))).default;
};

/** The state of the plain field when the full editor replaces it. */
type FieldState = Pick<FullEditorProps, 'selection' | 'hasFocus'>;

const stateOf = (field: HTMLTextAreaElement): FieldState => ({
  selection: { anchor: field.selectionStart, head: field.selectionEnd },
  hasFocus: document.activeElement === field,
});

export function TextEditor(props: TextEditorProps) {
  const { label, text, onTextChange, onSubmit, onEscape, hint, kind, storyKey, onUploading } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const insert = useRef<InsertText>(null);
  const [isWanted, setWanted] = useState(kind !== 'comment');
  const [replaced, setReplaced] = useState<FieldState | null>(null);
  /** An input method is composing a word in the plain field, which must stay until the word is complete. */
  const [isComposing, setComposing] = useState(false);
  const latest = useRef({ text, onTextChange, onUploading });
  latest.current = { text, onTextChange, onUploading };
  const files = useFilesInText(storyKey, (link) => {
    if (insert.current !== null) insert.current(link);
    else latest.current.onTextChange(latest.current.text + link);
  });
  const isUploading = files.running.length > 0;
  useEffect(() => latest.current.onUploading?.(isUploading), [isUploading]);

  const replaceField = useCallback((): void => {
    if (field.current !== null && fullEditor !== undefined) setReplaced(stateOf(field.current));
  }, []);
  useEffect(() => {
    if (!isWanted || isComposing || replaced !== null) return;
    // If the full editor cannot be loaded, the plain field remains.
    void loadFullEditor().then(replaceField, () => undefined);
  }, [isWanted, isComposing, replaced, replaceField]);

  const Full = fullEditor;
  if (replaced !== null && Full !== undefined)
    return (
      <div className="text-editor-place" {...files.dropProps}>
        <Full {...props} {...replaced} {...{ files, insert }} />
        <RunningUploads running={files.running} />
      </div>
    );
  const press = (event: KeyboardEvent): void => {
    const isCommand = event.metaKey || event.ctrlKey;
    if (isCommand && (event.key === 'Enter' || event.key === 's')) onSubmit();
    else if (event.key !== 'Escape' || onEscape?.() !== true) return;
    event.preventDefault();
  };
  const rows = props.rows ?? { comment: text === '' ? 1 : 4, text: 6, spec: 14 }[kind];
  return (
    <div className="text-editor-place" {...files.dropProps}>
      <textarea
        ref={field}
        className="field"
        dir="auto"
        rows={rows}
        autoFocus={kind !== 'comment'}
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
      <RunningUploads running={files.running} />
    </div>
  );
}
