/**
 * Shrinks an answer to a byte limit. The cuts apply in the given order, each only as far as needed, until the
 * answer as JSON in UTF-8 fits. The result is deterministic.
 */

/** Returns the size of a value as JSON in UTF-8, in bytes. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A way to shrink one section. */
export interface SectionCut<Sections> {
  readonly section: keyof Sections & string;
  /**
   * Returns the sections with the cut section smaller by `excess` bytes, or as close to that as the cut can
   * get. Returns the same object if the cut has no effect.
   */
  readonly shrink: (sections: Sections, excess: number) => Sections;
}

/** Creates a cut from a function that shrinks a present section. */
export const cut = <Sections, Name extends keyof Sections & string>(
  section: Name,
  shrink: (value: NonNullable<Sections[Name]>, excess: number) => Sections[Name],
): SectionCut<Sections> => ({
  section,
  shrink: (sections, excess) => {
    const value = sections[section];
    if (value === null || value === undefined) return sections;
    const smaller = shrink(value, excess);
    return smaller === value ? sections : { ...sections, [section]: smaller };
  },
});

/** The fitting sections, and the names of those that were cut. */
export interface Fitted<Sections> {
  readonly sections: Sections;
  readonly truncated: (keyof Sections & string)[];
}

/**
 * Cuts the sections until the answer `{...sections, truncated}` has at most `maxBytes`. `short` names the
 * sections that were incomplete from the start. Throws if all cuts together are not enough.
 */
export function fitBytes<Sections extends object>(
  whole: Sections,
  short: readonly (keyof Sections & string)[],
  cuts: readonly SectionCut<Sections>[],
  maxBytes: number,
): Fitted<Sections> {
  let sections = whole;
  const named = new Set<keyof Sections & string>(short);
  let bytes = bytesOf({ ...sections, truncated: [...named] });
  for (const { section, shrink } of cuts) {
    while (bytes > maxBytes) {
      // The section's name in `truncated` needs space as well, and a comma unless it is the first.
      const name = named.has(section) ? 0 : bytesOf(section) + Math.min(named.size, 1);
      const smaller = shrink(sections, bytes + name - maxBytes);
      if (smaller === sections) break;
      bytes += name + bytesOf(smaller[section]) - bytesOf(sections[section]);
      sections = smaller;
      named.add(section);
    }
  }
  if (bytes > maxBytes)
    throw new Error(`nothing is left to cut, and ${bytes} bytes exceed the limit of ${maxBytes}`);
  // The names are in the order of the sections, not in the order of the cuts.
  const order = Object.keys(whole) as (keyof Sections & string)[];
  return { sections, truncated: order.filter((name) => named.has(name)) };
}

/** Removes as many items from the end (or the start) as needed to free `excess` bytes. */
export function withoutItems<Item>(
  items: readonly Item[],
  excess: number,
  from: 'start' | 'end' = 'end',
): Item[] {
  let freed = 0;
  let kept = items.length;
  while (kept > 0 && freed < excess) {
    kept -= 1;
    freed += bytesOf(items.at(from === 'end' ? kept : -1 - kept)) + 1;
  }
  return from === 'end' ? items.slice(0, kept) : items.slice(items.length - kept);
}

/** The size of `null` in JSON, which replaces a removed text. */
const bytesOfNull = 4;

/**
 * Replaces the field's text by null in one item after another, from the last item on, until `excess` bytes
 * are free. Returns the same list if no text can be removed.
 */
export function withoutTexts<Field extends string, Item extends { readonly [Key in Field]: string | null }>(
  items: Item[],
  field: Field,
  excess: number,
): Item[] {
  let freed = 0;
  const changed = [...items];
  for (let index = items.length - 1; index >= 0 && freed < excess; index -= 1) {
    const item = items[index];
    if (item === undefined || item[field] === null) continue;
    const frees = bytesOf(item[field]) - bytesOfNull;
    if (frees <= 0) continue;
    changed[index] = { ...item, [field]: null };
    freed += frees;
  }
  return freed === 0 ? items : changed;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns the bytes of a code unit outside of a surrogate pair, as JSON.stringify writes it. */
function bytesOfUnit(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  // JSON has short escapes for \b, \t, \n, \f and \r.
  if (unit < 0x20) return unit >= 0x08 && unit <= 0x0d && unit !== 0x0b ? 2 : 6;
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  // A lone surrogate is written as an escape.
  return isHigh(unit) || isLow(unit) ? 6 : 3;
}

/** Removes as little of the text's end as needed to free `excess` bytes. It cuts between two code points. */
export function withoutEnd(text: string, excess: number): string {
  let freed = 0;
  let end = text.length;
  while (end > 0 && freed < excess) {
    const isPair = isLow(text.charCodeAt(end - 1)) && end > 1 && isHigh(text.charCodeAt(end - 2));
    end -= isPair ? 2 : 1;
    freed += isPair ? 4 : bytesOfUnit(text.charCodeAt(end));
  }
  return text.slice(0, end);
}
