/** The buttons that format the selected text. They are one stop of the Tab key, and arrow keys move between them. */
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { LineIcon } from '../components/icons.tsx';
import { editorTexts } from '../messages/editor.ts';
import { type Format } from './formatting.ts';

const icons: Readonly<Record<Format, ReactNode>> = {
  heading: <path d="M4 3v10M12 3v10M4 8h8" />,
  bold: <path d="M4.5 3h4a2.4 2.4 0 0 1 0 5h-4zM4.5 8h4.8a2.5 2.5 0 0 1 0 5H4.5zM5 3v10" />,
  italic: <path d="M7 3h4.5M4.5 13H9M9.3 3 6.7 13" />,
  code: <path d="M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5" />,
  link: (
    <path d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7L8 4.3M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7L8 11.7" />
  ),
  list: <path d="M6 4h7.5M6 8h7.5M6 12h7.5M2.8 4h.1M2.8 8h.1M2.8 12h.1" />,
  tasks: <path d="M2 2.8h3.4v3.4H2zM2 9.8h3.4v3.4H2zM8 4.5h6M8 11.5h6M2.8 11.5l.8.8 1.2-1.6" />,
  quote: <path d="M2.8 3v10M6 5h7M6 8h7M6 11h4.5" />,
};
const shortcuts: Readonly<Partial<Record<Format, string>>> = { bold: 'B', italic: 'I', code: 'E' };
const isApple = /Mac|iP(?:hone|ad)/.test(navigator.userAgent);
const formats = Object.keys(icons) as Format[];

const titleOf = (format: Format): string => {
  const key = shortcuts[format];
  const name = editorTexts.formats[format];
  return key === undefined ? name : `${name} (${isApple ? '⌘' : 'Ctrl+'}${key})`;
};

export function Toolbar({ onFormat }: { readonly onFormat: (format: Format) => void }) {
  const bar = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const move = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: (current + 1) % formats.length,
      ArrowLeft: (current + formats.length - 1) % formats.length,
      Home: 0,
      End: formats.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setCurrent(next);
    bar.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <div
      ref={bar}
      className="editor-formats"
      role="toolbar"
      aria-label={editorTexts.toolbar}
      onKeyDown={move}
    >
      {formats.map((format, index) => (
        <button
          key={format}
          type="button"
          className="icon-button"
          aria-label={editorTexts.formats[format]}
          title={titleOf(format)}
          tabIndex={index === current ? 0 : -1}
          // Keeps the focus and the selection in the text.
          onMouseDown={(event) => event.preventDefault()}
          onFocus={() => setCurrent(index)}
          onClick={() => onFormat(format)}
        >
          <LineIcon>{icons[format]}</LineIcon>
        </button>
      ))}
    </div>
  );
}
