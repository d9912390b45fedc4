import { useEffect, useRef, useState } from 'react';
import { t } from '../texts/index.ts';

interface QuickAddProps {
  readonly column: string;
  readonly onAdd: (title: string) => Promise<void>;
  readonly onClose: () => void;
}

/** A title and Enter; the field stays for the next one, Escape closes it. What could not be added stays in it. */
export function QuickAdd({ column, onAdd, onClose }: QuickAddProps) {
  const [title, setTitle] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const add = async (): Promise<void> => {
    const wanted = title.trim().replaceAll(/\s+/g, ' ');
    if (wanted === '' || isBusy) return;
    setBusy(true);
    setTitle('');
    await onAdd(wanted).catch(() => setTitle(wanted));
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
        aria-label={t.board.add(column)}
        placeholder={t.board.addTitle}
        onChange={(event) => setTitle(event.target.value)}
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
