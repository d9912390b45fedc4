/**
 * Builds HTML by tagged templates: html`<p>${text}</p>`. Values are escaped as text, except for instances of
 * Html.
 */

/** A fragment of HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = string | number | Html | readonly Html[] | null;

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function renderValue(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escapeHtml(String(value));
}

export const html = (strings: readonly string[], ...values: readonly HtmlValue[]): Html =>
  new Html(strings.reduce((text, piece, index) => text + renderValue(values[index - 1] ?? null) + piece));
