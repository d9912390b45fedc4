import { useEffect, useRef, useState } from 'react';
import { useAskBeforeLeaving, useNewText } from '../parts/unsaved.tsx';
import { t } from '../texts/index.ts';

interface QuickAddProps {
  readonly columnId: string;
  readonly column: string;
  readonly onAdd: (title: string) => Promise<void>;
  readonly onClose: () => void;
}

/** A title and Enter; the field stays for the next one, Escape closes it. A title that could not be added stays in it. */
export function QuickAdd({ columnId, column, onAdd, onClose }: QuickAddProps) {
  const { text: title, isDirty, askFirst, change, latest } = useNewText(`add.${columnId}`);
  const [isBusy, setBusy] = useState(false);
  useAskBeforeLeaving(isBusy);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const add = async (): Promise<void> => {
    const wanted = title.trim().replaceAll(/\s+/g, ' ');
    if (wanted === '' || isBusy) return;
    setBusy(true);
    change('');
    await onAdd(wanted).catch(() => change([wanted, latest()].filter(Boolean).join('\n')));
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
        onChange={(event) => change(event.target.value)}
        onBlur={() => {
          if (!isDirty) onClose();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void add();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            // The same key would close the question.
            event.preventDefault();
            askFirst(() => {
              change('');
              onClose();
            });
          }
        }}
      />
    </form>
  );
}
