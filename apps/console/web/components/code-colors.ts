/** Colors code by highlight.js, which is loaded for the first text with code in a known language. */
import { type DOMPurify } from 'dompurify';
import highlighter from 'highlight.js/lib/common';

/** Longer code stays without colors, because highlighting it would block the page. */
const maxLength = 50_000;

/** Replaces the text of the element by the same text in spans, whose classes name the kinds of tokens. */
export function colorCode(element: HTMLElement, language: string, sanitizer: DOMPurify): void {
  const { textContent: code } = element;
  if (code.length > maxLength || highlighter.getLanguage(language) === undefined) return;
  const { value } = highlighter.highlight(code, { language, ignoreIllegals: true });
  element.replaceChildren(
    sanitizer.sanitize(value, {
      ...{ ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true },
    }),
  );
}
