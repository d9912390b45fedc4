import { type MarkdownRenderer } from 'vitepress';

/** Shows inline code verbatim, as in code blocks: `{{ job.status }}` is not an expression of the page. */
export function keepVerbatim(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('verbatim', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === 'code_inline') token.attrSet('v-pre', '');
  });
}
