/**
 * How the search of the site ranks: a heading that has the name comes before texts that speak of it, and what says how
 * to do something before what says why it is so.
 */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 12, titles: 2, text: 1 },
  boostDocument: (id: string): number =>
    /^\/(decisions|proof|adding-an-operation|console-design)/.test(id) ? 0.3 : 1,
};

/** What is used of VitePress's renderer, whose type is that of another version. */
interface Renderer {
  readonly options: {
    highlight?: ((code: string, language: string, attributes: string) => string) | null | undefined;
  };
  readonly render: (source: string, env: object) => string;
}

/** A page as it is searched, without the colours of its code, which take longer than all else of it and are no text. */
export function renderPlain(source: string, env: object, markdown: Renderer): string {
  const { highlight } = markdown.options;
  markdown.options.highlight = null;
  try {
    return markdown.render(source, env);
  } finally {
    // The pages are rendered by the same.
    markdown.options.highlight = highlight;
  }
}
