import { useEffect, useRef, useState } from 'react';
import { markUnsaved } from '../data/unsaved.ts';
import { t } from '../messages/index.ts';

interface QuickAddProps {
  readonly columnId: string;
  readonly columnName: string;
  readonly onAdd: (title: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Unsubmitted titles by column, kept as long as the window. */
const unsubmittedTitles = new Map<string, string>();

/**
 * A field that adds a story with a title on Enter. It stays open for the next one; Escape closes it. An
 * unsubmitted title is kept.
 */
export function QuickAdd({ columnId, columnName, onAdd, onClose }: QuickAddProps) {
  const [title, setTitle] = useState(unsubmittedTitles.get(columnId) ?? '');
  const [isBusy, setBusy] = useState(false);
  const isUnsaved = isBusy || title !== '';
  useEffect(() => (isUnsaved ? markUnsaved() : undefined), [isUnsaved]);
  const change = (text: string): void => {
    unsubmittedTitles.set(columnId, text);
    setTitle(text);
  };
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const add = async (): Promise<void> => {
    const wanted = title.trim().replaceAll(/\s+/g, ' ');
    if (wanted === '' || isBusy) return;
    setBusy(true);
    change('');
    await onAdd(wanted).catch(() =>
      change([wanted, unsubmittedTitles.get(columnId)].filter(Boolean).join('\n')),
    );
    setBusy(false);
    field.current?.focus();
  };
  return (
    <form
      className="quick-add"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <textarea
        ref={field}
        className="field"
        rows={2}
        maxLength={300}
        value={title}
        aria-label={t.board.add(columnName)}
        placeholder={t.board.addTitle}
        onChange={(event) => change(event.target.value)}
        onBlur={() => {
          if (title.trim() === '') onClose();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void add();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            onClose();
          }
        }}
      />
    </form>
  );
}
