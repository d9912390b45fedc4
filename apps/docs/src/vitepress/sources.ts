import { type MarkdownRenderer } from 'vitepress';

/**
 * Removes links to files of the repository, which do not exist on the site, and keeps the text of the links.
 * If a paragraph begins with the name of a file as such a link, the name is removed, too.
 */
export function unlinkSources(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('unlink-sources', ({ tokens }) => {
    for (const { children } of tokens) {
      if (children === null) continue;
      let isSource = false;
      let isName = false;
      for (const [at, token] of children.entries()) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          isSource = /\.(ts|sql|mjs|js|json)(#.*)?$/.test(href) || /\/(libs|apps|tools)\//.test(href);
          isName = isSource && at === 0 && children.some(({ content }) => content.startsWith('. '));
        }
        if (isName && !isSource) {
          token.content = token.content.replace(/^\. /, '');
          isName = false;
        }
        if (!isSource) continue;
        if (isName) token.content = '';
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
