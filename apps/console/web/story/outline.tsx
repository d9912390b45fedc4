/** An outline of a long text: its headings, each of which leads to its place. */
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { storyTexts } from '../messages/story.ts';

interface Heading {
  readonly level: number;
  readonly title: string;
}

/** A text with fewer headings has no outline. */
const minHeadings = 4;

const headingsIn = (container: HTMLElement | null): HTMLElement[] => [
  ...(container?.querySelectorAll<HTMLElement>(':is(h2, h3, h4, h5, h6)') ?? []),
];

export function WithOutline({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const body = useRef<HTMLDivElement>(null);
  const [headings, setHeadings] = useState<readonly Heading[]>([]);
  useLayoutEffect(
    () =>
      setHeadings(
        headingsIn(body.current).map(({ tagName, textContent }) => ({
          level: Number(tagName.slice(1)),
          title: textContent.trim(),
        })),
      ),
    [text],
  );
  const topLevel = Math.min(...headings.map(({ level }) => level));
  const show = (index: number): void => {
    const heading = headingsIn(body.current)[index];
    if (heading === undefined) return;
    // Focusing the heading lets the keyboard and screen readers continue there.
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: 'start' });
  };
  return (
    <>
      {headings.length >= minHeadings && (
        <details className="outline">
          <summary>{storyTexts.outline(headings.length)}</summary>
          <nav aria-label={storyTexts.outlineName}>
            <ol>
              {headings.map(({ level, title }, index) => (
                <li key={index} data-level={level - topLevel}>
                  <button type="button" dir="auto" onClick={() => show(index)}>
                    {title}
                  </button>
                </li>
              ))}
            </ol>
          </nav>
        </details>
      )}
      <div ref={body} className="outlined">
        {children}
      </div>
    </>
  );
}
