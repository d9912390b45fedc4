/** Uploads in progress, and ways to start them: a button, dropping files, and pasting. */
import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, useRef, useState } from 'react';
import { type Attachment, type AttachmentKind } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { errorText, showNotice } from '../components/notices.tsx';
import { fileTexts } from '../messages/files.ts';
import { UploadError, uploadFile, type UploadTarget } from './upload.ts';

interface RunningUpload {
  readonly id: number;
  readonly name: string;
  readonly percent: number;
}

export interface Uploads {
  readonly running: readonly RunningUpload[];
  readonly add: (files: readonly File[]) => void;
}

interface UploadsOptions {
  readonly target: UploadTarget;
  readonly kind?: AttachmentKind;
  /** The keys of the queries that are refetched after an upload. */
  readonly queryKeys: readonly (readonly string[])[];
  readonly onUploaded?: (attachment: Attachment) => void;
}

let lastUploadId = 0;

/** Uploads added files one after the other. A failed upload says why, and the next ones continue. */
export function useUploads({ target, kind = 'file', queryKeys, onUploaded }: UploadsOptions): Uploads {
  const client = useClient();
  const queries = useQueryClient();
  const [running, setRunning] = useState<readonly RunningUpload[]>([]);
  const queue = useRef(Promise.resolve());
  const latest = useRef(onUploaded);
  latest.current = onUploaded;
  const upload = async (id: number, file: File): Promise<void> => {
    const setPercent = (fraction: number): void => {
      const percent = Math.floor(100 * fraction);
      setRunning((all) => all.map((one) => (one.id === id ? { ...one, percent } : one)));
    };
    try {
      const attachment = await uploadFile(client, target, kind, file, setPercent);
      latest.current?.(attachment);
      showNotice({ tone: 'good', title: fileTexts.uploaded(file.name) });
    } catch (error) {
      const body = error instanceof UploadError ? error.message : errorText(error);
      showNotice({ tone: 'bad', title: fileTexts.notUploaded(file.name), body });
    }
    setRunning((all) => all.filter((one) => one.id !== id));
    await Promise.all(queryKeys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
  const add = (files: readonly File[]): void => {
    if (files.length === 0) return;
    const added = files.map((file) => {
      lastUploadId += 1;
      return { id: lastUploadId, file };
    });
    setRunning((all) => [...all, ...added.map(({ id, file }) => ({ id, name: file.name, percent: 0 }))]);
    for (const { id, file } of added) queue.current = queue.current.then(() => upload(id, file));
  };
  return { running, add };
}

export const RunningUploads = ({ running }: Pick<Uploads, 'running'>) =>
  running.length > 0 && (
    <ul className="uploads">
      {running.map(({ id, name, percent }) => (
        <li key={id}>
          <label className="upload">
            <span className="cut">{fileTexts.uploading(name)}</span>
            <progress max={100} value={percent} />
            <span className="tabular muted">{fileTexts.progress(percent)}</span>
          </label>
        </li>
      ))}
    </ul>
  );

interface AttachButtonProps {
  readonly label: string;
  readonly hiddenLabel?: string;
  readonly isQuiet?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** A button that opens the file dialog. */
export function AttachButton({ label, hiddenLabel, isQuiet = false, onFiles }: AttachButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // Otherwise the browser reports no change if the same file is chosen again.
          target.value = '';
        }}
      />
      <button
        type="button"
        className="button"
        data-kind={isQuiet ? 'quiet' : undefined}
        aria-label={hiddenLabel}
        onClick={() => input.current?.click()}
      >
        {label}
      </button>
    </>
  );
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes('Files');

/** Returns the props of an element on which files can be dropped, and whether files are over it. */
export function useFileDrop(onFiles: ((files: readonly File[]) => void) | undefined) {
  const [isOver, setOver] = useState(false);
  if (onFiles === undefined) return { isOver: false, dropProps: {} };
  return {
    isOver,
    dropProps: {
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: (event: DragEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      },
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      },
    },
  };
}

interface PasteEvent {
  readonly clipboardData: DataTransfer | null;
  readonly preventDefault: () => void;
}

/** Takes files from the clipboard; text is left to the field. */
export const pastedFiles = (event: PasteEvent): readonly File[] => {
  // Office programs put a picture of copied text on the clipboard, next to the text.
  if (event.clipboardData === null || event.clipboardData.types.includes('text/plain')) return [];
  const files = [...event.clipboardData.files];
  if (files.length > 0) event.preventDefault();
  return files;
};
