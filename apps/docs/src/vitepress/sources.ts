import { type MarkdownRenderer } from 'vitepress';

/** A link to a file of the repository leads nowhere on the site: its text stays, the link goes. */
export function unlinkSources(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('unlink-sources', ({ tokens }) => {
    for (const { children } of tokens) {
      if (children === null) continue;
      let isSource = false;
      for (const token of children) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          isSource = /\.(ts|sql|mjs|js|json)(#.*)?$/.test(href) || /\/(libs|apps|tools)\//.test(href);
        }
        if (!isSource) continue;
        if (token.type === 'link_close') isSource = false;
        if (token.type === 'link_open' || token.type === 'link_close') {
          token.type = 'text';
          token.tag = '';
          token.nesting = 0;
          token.content = '';
        }
      }
    }
  });
}
