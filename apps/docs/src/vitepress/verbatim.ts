import { type MarkdownRenderer } from 'vitepress';

/** What stands in backticks is shown as it is: `{{ job.status }}` is no expression of the page, as in a block of code. */
export function keepVerbatim(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('verbatim', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === 'code_inline') token.attrSet('v-pre', '');
  });
}
