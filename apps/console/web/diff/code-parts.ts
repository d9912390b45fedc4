/** Colors the lines of a patch by highlight.js, which is loaded for the first patch. */
import highlighter from 'highlight.js/lib/common';
import { type PatchLine } from './patch-lines.ts';

/** A part of a line, with the class of its kind of token; null for plain text. */
export interface CodePart {
  readonly tokenClass: string | null;
  readonly text: string;
}

/** Longer patches stay without colors, because highlighting them would block the page. */
const maxLength = 50_000;

const entities: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" },
};
const htmlPartPattern = /<span class="([^"]*)">|(<\/span>)|([^<]+)/g;

/** Splits highlighted code into lines. It makes text of the HTML, so nothing in the code can become an element. */
function toLines(html: string): CodePart[][] {
  const lines: CodePart[][] = [[]];
  const classes: string[] = [];
  for (const [, opened, closed, escaped] of html.matchAll(htmlPartPattern)) {
    if (opened !== undefined) classes.push(opened);
    else if (closed !== undefined) classes.pop();
    const texts = escaped?.replaceAll(/&[#\w]+;/g, (entity) => entities[entity] ?? entity).split('\n') ?? [];
    for (const [index, text] of texts.entries()) {
      if (index > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ tokenClass: classes.at(-1) ?? null, text });
    }
  }
  return lines;
}

/** Returns the parts of each line; undefined for lines that have no colors. */
export function colorPatch(path: string, lines: readonly PatchLine[]): (readonly CodePart[] | undefined)[] {
  const colored = lines.map((): readonly CodePart[] | undefined => undefined);
  const language = path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf('/')) + 1).toLowerCase();
  const length = lines.reduce((sum, { text }) => sum + text.length, 0);
  if (length > maxLength || highlighter.getLanguage(language) === undefined) return colored;
  // Comments and strings may have several lines, so each side of a hunk is highlighted as a whole.
  for (const side of ['deleted', 'added'] as const) {
    let positions: number[] = [];
    const flush = (): void => {
      const code = positions.map((position) => lines[position]?.text ?? '').join('\n');
      const { value } = highlighter.highlight(code, { language, ignoreIllegals: true });
      for (const [nth, parts] of toLines(value).entries()) {
        const position = positions[nth];
        if (position !== undefined) colored[position] = parts;
      }
      positions = [];
    };
    for (const [position, { kind }] of lines.entries())
      if (kind === 'hunk') flush();
      else if (kind === side || kind === 'context') positions.push(position);
    flush();
  }
  return colored;
}
