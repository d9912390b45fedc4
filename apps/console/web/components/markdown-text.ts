/** Markdown beyond what its parser knows: references to stories, members and agents as links, and task boxes that can be ticked. */
import { Marked, type Tokens, type TokensList } from 'marked';

/** The targets of references in a text. */
export interface LinkTargets {
  readonly projectKeys: ReadonlySet<string>;
  /** Ids of members by their handles, and of agents by their slugs, in lower case. */
  readonly actorIds: ReadonlyMap<string, string>;
}

/**
 * Indexes actors by the names that mention them. If several have the same name, the API notifies the member,
 * else the viewer's own agent, else the oldest agent. Agents come newest first, and later entries win.
 */
export const indexActorIds = (
  members: readonly { readonly id: string; readonly handle: string }[],
  agents: readonly { readonly id: string; readonly slug: string; readonly memberId: string }[],
  viewerId: string,
): LinkTargets['actorIds'] =>
  new Map([
    ...agents.map(({ slug, id }) => [slug, id] as const),
    ...agents.filter(({ memberId }) => memberId === viewerId).map(({ slug, id }) => [slug, id] as const),
    ...members.map(({ handle, id }) => [handle.toLowerCase(), id] as const),
  ]);

const plainParser = new Marked({ gfm: true, breaks: false, async: false });
const linkingParser = new Marked({ gfm: true, breaks: false, async: false });

const referencePattern =
  /^(?:([A-Z][A-Z\d]{1,9})-[1-9]\d*|@([A-Za-z\d][A-Za-z\d-]*))(?![\p{L}\p{N}\p{M}_@-]|[./][\p{L}\p{N}])/u;
const referenceStartPattern = /[A-Z][A-Z\d]{1,9}-\d|@[A-Za-z\d]/;
/**
 * Matches text that ends with a character after which a key or a handle would be part of a longer word, a
 * path or an address.
 */
const insideWordPattern = /[\p{L}\p{N}\p{M}_.+\-@/\\#&]$/u;

/** The options of the text that is being parsed. Parsing is synchronous. */
let currentOptions: { readonly linkable: LinkTargets; readonly taskPrefix: string };
let renderedTaskCount = 0;

function linkAddressOf(projectKey: string | undefined, handle: string | undefined, text: string) {
  const { projectKeys, actorIds } = currentOptions.linkable;
  if (projectKey !== undefined) return projectKeys.has(projectKey) ? `/console/s/${text}` : undefined;
  const id = actorIds.get((handle ?? '').toLowerCase());
  return id === undefined ? undefined : `/console/activity?actor=${id}`;
}

linkingParser.use({
  extensions: [
    {
      name: 'reference',
      level: 'inline',
      start: (source) => {
        const at = source.search(referenceStartPattern);
        return at === -1 ? undefined : at;
      },
      tokenizer(source, tokens) {
        const [raw, projectKey, handle] = referencePattern.exec(source) ?? [];
        if (raw === undefined || this.lexer.state.inLink || insideWordPattern.test(tokens.at(-1)?.raw ?? ''))
          return undefined;
        const href = linkAddressOf(projectKey, handle, raw);
        return href === undefined ? undefined : { type: 'reference', raw, href };
      },
      // The text needs no HTML escaping, because keys and handles contain no characters that are special in
      // HTML.
      renderer: ({ raw, ['href']: href }) => `<a href="${String(href)}">${raw}</a>`,
    },
  ],
  renderer: {
    checkbox: ({ checked }) =>
      `<input type="checkbox" value="${currentOptions.taskPrefix}${renderedTaskCount++}"${checked ? ' checked' : ''}> `,
  },
});

/** Moves headings below the heading level of the page, and keeps their relative levels. */
const demoteHeadings = (tokens: TokensList, levels: number): TokensList => {
  void linkingParser.walkTokens(tokens, (token) => {
    if (token.type === 'heading') token['depth'] = Math.min(6, (token as Tokens.Heading).depth + levels);
  });
  return tokens;
};

/** HTML that is not yet sanitized. The value of each task box is the prefix and the number of the box, from 0. */
export function renderHtml(
  text: string,
  parentHeadingLevel: number,
  linkTargets: LinkTargets,
  taskPrefix: string,
): string {
  currentOptions = { linkable: linkTargets, taskPrefix };
  renderedTaskCount = 0;
  return linkingParser.parser(demoteHeadings(linkingParser.lexer(text), parentHeadingLevel));
}

/** The state of each task box, in the order of the text. */
export function parseTaskStates(text: string): boolean[] {
  const found: boolean[] = [];
  void plainParser.walkTokens(plainParser.lexer(text), (token) => {
    if (token.type === 'checkbox') found.push((token as Tokens.Checkbox).checked);
  });
  return found;
}

const taskMarkerPattern = /^([\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)([ xX])(?=\][ \t])/gm;

/** Returns the text with one task box changed; undefined if there is no such box. */
export function setTaskState(text: string, index: number, isChecked: boolean): string | undefined {
  const tasks = parseTaskStates(text);
  if (tasks[index] === undefined) return undefined;
  const wanted = tasks.with(index, isChecked).join();
  const markers = [...text.matchAll(taskMarkerPattern)];
  // Lines in code blocks can look like boxes too, so find the line whose change affects only this box.
  for (const { index: start, 1: before = '' } of [...markers.slice(index), ...markers.slice(0, index)]) {
    const at = start + before.length;
    const changed = `${text.slice(0, at)}${isChecked ? 'x' : ' '}${text.slice(at + 1)}`;
    if (changed !== text && parseTaskStates(changed).join() === wanted) return changed;
  }
  return undefined;
}
