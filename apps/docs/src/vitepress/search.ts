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
