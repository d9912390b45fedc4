/**
 * The ranking of the site's search. A heading that contains the search term ranks above texts that
 * mention it, and instructions rank above explanations.
 */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 12, titles: 2, text: 1 },
  boostDocument: (id: string): number =>
    /^\/(decisions|proof|adding-an-operation|console-design)/.test(id) ? 0.3 : 1,
};

/**
 * The part of VitePress's Markdown renderer that is used here. The type that VitePress declares belongs to
 * another version of the renderer.
 */
interface PlainRenderer {
  readonly options: {
    highlight?: ((code: string, language: string, attributes: string) => string) | null | undefined;
  };
  readonly render: (source: string, env: object) => string;
}

/**
 * Renders a page for the search index without syntax highlighting, which takes longer than everything else
 * and adds no text.
 */
export function renderPlain(source: string, env: object, markdown: PlainRenderer): string {
  const { highlight } = markdown.options;
  markdown.options.highlight = null;
  try {
    return markdown.render(source, env);
  } finally {
    // Restore the highlighter, because VitePress renders the pages with this renderer too.
    markdown.options.highlight = highlight;
  }
}
