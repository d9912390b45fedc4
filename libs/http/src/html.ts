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

type Value = string | number | Html | readonly Html[] | null;

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function textOf(value: Value): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escaped(String(value));
}

export const html = (strings: readonly string[], ...values: readonly Value[]): Html =>
  new Html(strings.reduce((text, piece, index) => text + textOf(values[index - 1] ?? null) + piece));
