/** What others wrote, as elements: marked makes the text, DOMPurify takes out what could act, Trusted Types hold both to it. */
import DOMPurify from 'dompurify';
import { Marked, type Tokens, type TokensList } from 'marked';
import { useMemo } from 'react';

const marked = new Marked({ gfm: true, breaks: false, async: false });
const purify = DOMPurify(globalThis.window);

purify.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName === 'A') {
    element.setAttribute('rel', 'noopener noreferrer nofollow');
    if (!/^#/.test(element.getAttribute('href') ?? '')) element.setAttribute('target', '_blank');
  }
  // A picture would tell another server who reads: it is a link until one asks for it.
  if (element.tagName === 'IMG') {
    const source = element.getAttribute('src') ?? '';
    const link = document.createElement('a');
    link.textContent = element.getAttribute('alt') ?? source;
    if (/^https?:/.test(source)) link.setAttribute('href', source);
    link.setAttribute('target', '_blank');
    link.setAttribute('rel', 'noopener noreferrer nofollow');
    element.replaceWith(link);
  }
});

const settings = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: [
    'style',
    'form',
    'input',
    'button',
    'textarea',
    'select',
    'iframe',
    'video',
    'audio',
    'source',
  ],
  FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset'],
  ALLOW_DATA_ATTR: false,
  RETURN_TRUSTED_TYPE: true as const,
};

/** Headings of a text stand below those of the page it is on, and keep their steps. */
const demote = (tokens: TokensList, by: number): TokensList => {
  void marked.walkTokens(tokens, (token) => {
    if (token.type === 'heading') token['depth'] = Math.min(6, (token as Tokens.Heading).depth + by);
  });
  return tokens;
};

interface MarkdownProps {
  readonly text: string;
  /** The level of the heading under which it stands; its own begin with the next. */
  readonly below?: number;
}

export function Markdown({ text, below = 2 }: MarkdownProps) {
  const html = useMemo(
    () => purify.sanitize(marked.parser(demote(marked.lexer(text), below)), settings),
    [text, below],
  );
  return (
    <div
      className="prose"
      data-below={below}
      dangerouslySetInnerHTML={{ __html: html as unknown as string }}
    />
  );
}
