/**
 * Making an answer fit: cuts are made in a given order, each only as far as it must go, until the answer as JSON in
 * UTF-8 is no larger than it may be. The same answer is always cut in the same way.
 */

/** Bytes of a value as JSON in UTF-8. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** One way of making a section smaller. */
export interface Cut<Sections> {
  readonly section: keyof Sections & string;
  /** The sections with this one smaller by `excess` bytes, or as near as this way leads; the same where it leads nowhere. */
  readonly shrink: (sections: Sections, excess: number) => Sections;
}

/** A cut by what it makes of a section that is there. */
export const cut = <Sections, Name extends keyof Sections & string>(
  section: Name,
  shrink: (value: NonNullable<Sections[Name]>, excess: number) => Sections[Name],
): Cut<Sections> => ({
  section,
  shrink: (sections, excess) => {
    const value = sections[section];
    if (value === null || value === undefined) return sections;
    const smaller = shrink(value, excess);
    return smaller === value ? sections : { ...sections, [section]: smaller };
  },
});

/** What fitted, and which sections are not whole. */
export interface Fitted<Sections> {
  readonly sections: Sections;
  readonly truncated: (keyof Sections & string)[];
}

/**
 * Cuts the sections until the answer `{...sections, truncated}` has at most `maxBytes`. `short` names the sections
 * that were not whole to begin with. Throws where all the cuts are not enough.
 */
export function fitBytes<Sections extends object>(
  whole: Sections,
  short: readonly (keyof Sections & string)[],
  cuts: readonly Cut<Sections>[],
  maxBytes: number,
): Fitted<Sections> {
  let sections = whole;
  const named = new Set<keyof Sections & string>(short);
  let bytes = bytesOf({ ...sections, truncated: [...named] });
  for (const { section, shrink } of cuts) {
    while (bytes > maxBytes) {
      // Its name takes room too, and a comma but for the first.
      const name = named.has(section) ? 0 : bytesOf(section) + Math.min(named.size, 1);
      const smaller = shrink(sections, bytes + name - maxBytes);
      if (smaller === sections) break;
      bytes += name + bytesOf(smaller[section]) - bytesOf(sections[section]);
      sections = smaller;
      named.add(section);
    }
  }
  if (bytes > maxBytes)
    throw new Error(`nothing is left to be cut, and ${bytes} bytes are more than ${maxBytes}`);
  // In the order of the sections, whatever the order of the cuts.
  const order = Object.keys(whole) as (keyof Sections & string)[];
  return { sections, truncated: order.filter((name) => named.has(name)) };
}

/** Without its last items (or its first): as many as free so many bytes. */
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

/** `null` in JSON: what stands for a text that is left out. */
const bytesOfNull = 4;

/** The items, the last ones without the text of this field: as many as free so many bytes; the same list where none can. */
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

/** Bytes of a character that is no pair, as JSON.stringify writes it. */
function bytesOfUnit(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  // \b, \t, \n, \f and \r are written short.
  if (unit < 0x20) return unit >= 0x08 && unit <= 0x0d && unit !== 0x0b ? 2 : 6;
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  // Half of a pair is written as an escape.
  return isHigh(unit) || isLow(unit) ? 6 : 3;
}

/** The text without its end, between two code points: as short as frees so many bytes. */
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
