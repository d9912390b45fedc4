/**
 * Shrinks an answer to a byte limit. The cuts apply in the given order, each only as far as needed, until the
 * answer as JSON in UTF-8 fits. The result is deterministic.
 */

/** Returns the size of a value as JSON in UTF-8, in bytes. */
export const jsonByteLength = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A way to shrink one section. */
export interface SectionCut<Sections> {
  readonly section: keyof Sections & string;
  /**
   * Returns the sections with the cut section smaller by `excess` bytes, or as close to that as the cut can
   * get. Returns the same object if the cut has no effect.
   */
  readonly shrink: (sections: Sections, excess: number) => Sections;
}

/** Creates a step that shortens one section. The given function is called only if the section exists. */
export const defineSectionCut = <Sections, Name extends keyof Sections & string>(
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
export interface FittedSections<Sections> {
  readonly sections: Sections;
  readonly truncated: (keyof Sections & string)[];
}

/**
 * Cuts the sections until the answer `{...sections, truncated}` has at most `maxBytes`. `short` names the
 * sections that were incomplete from the start. Throws if all cuts together are not enough.
 */
export function fitSectionsToBytes<Sections extends object>(
  allSections: Sections,
  incompleteSections: readonly (keyof Sections & string)[],
  cuts: readonly SectionCut<Sections>[],
  maxBytes: number,
): FittedSections<Sections> {
  let sections = allSections;
  // The names are in the order of the sections, not in the order of the cuts.
  const order = Object.keys(allSections) as (keyof Sections & string)[];
  const named = new Set<keyof Sections & string>(incompleteSections);
  // Serializing is the main cost, so each version of a section is measured once.
  const sizes = new Map(order.map((name) => [name, jsonByteLength(allSections[name])]));
  const withoutValues = Object.fromEntries(order.map((name) => [name, 0]));
  let bytes = jsonByteLength({ ...withoutValues, truncated: [...named] });
  for (const size of sizes.values()) bytes += size - 1;
  for (const { section, shrink } of cuts) {
    while (bytes > maxBytes) {
      // The section's name in `truncated` needs space as well, and a comma unless it is the first.
      const name = named.has(section) ? 0 : jsonByteLength(section) + Math.min(named.size, 1);
      const smaller = shrink(sections, bytes + name - maxBytes);
      if (smaller === sections) break;
      const size = jsonByteLength(smaller[section]);
      bytes += name + size - (sizes.get(section) ?? 0);
      sizes.set(section, size);
      sections = smaller;
      named.add(section);
    }
  }
  if (bytes > maxBytes)
    throw new Error(`nothing is left to cut, and ${bytes} bytes exceed the limit of ${maxBytes}`);
  return { sections, truncated: order.filter((name) => named.has(name)) };
}

/** Removes as many items from the end (or the start) as needed to free `excess` bytes. */
export const dropItems = <Item>(
  items: readonly Item[],
  excessBytes: number,
  dropFrom: 'start' | 'end' = 'end',
): Item[] => dropItemsAndMeasure(items, excessBytes, dropFrom).kept;

/** Removes items as `dropItems` does, and also returns the exact number of freed bytes. */
export function dropItemsAndMeasure<Item>(
  items: readonly Item[],
  excessBytes: number,
  dropFrom: 'start' | 'end',
): { readonly kept: Item[]; readonly freedBytes: number } {
  let freed = 0;
  let count = items.length;
  while (count > 0 && freed < excessBytes) {
    count -= 1;
    freed += jsonByteLength(items.at(dropFrom === 'end' ? count : -1 - count)) + 1;
  }
  const kept = dropFrom === 'end' ? items.slice(0, count) : items.slice(items.length - count);
  // A list of n items has n - 1 commas.
  return { kept, freedBytes: count === 0 && items.length > 0 ? freed - 1 : freed };
}

/** The size of `null` in JSON, which replaces a removed text. */
const jsonBytesOfNull = 4;

/**
 * Replaces the field's text by null in one item after another, from the last item on, until `excess` bytes
 * are free. Returns the same list if no text can be removed.
 */
export function dropTexts<Field extends string, Item extends { readonly [Key in Field]: string | null }>(
  items: Item[],
  field: Field,
  excessBytes: number,
): Item[] {
  let freed = 0;
  const changed = [...items];
  for (let index = items.length - 1; index >= 0 && freed < excessBytes; index -= 1) {
    const item = items[index];
    if (item === undefined || item[field] === null) continue;
    const frees = jsonByteLength(item[field]) - jsonBytesOfNull;
    if (frees <= 0) continue;
    changed[index] = { ...item, [field]: null };
    freed += frees;
  }
  return freed === 0 ? items : changed;
}

const isHighSurrogate = (codeUnit: number): boolean => codeUnit >= 0xd800 && codeUnit <= 0xdbff;
const isLowSurrogate = (codeUnit: number): boolean => codeUnit >= 0xdc00 && codeUnit <= 0xdfff;

/** Returns the bytes of a code unit outside of a surrogate pair, as JSON.stringify writes it. */
function jsonBytesOfCodeUnit(codeUnit: number): number {
  if (codeUnit === 0x22 || codeUnit === 0x5c) return 2;
  // JSON has short escapes for \b, \t, \n, \f and \r.
  if (codeUnit < 0x20) return codeUnit >= 0x08 && codeUnit <= 0x0d && codeUnit !== 0x0b ? 2 : 6;
  if (codeUnit < 0x80) return 1;
  if (codeUnit < 0x800) return 2;
  // A lone surrogate is written as an escape.
  return isHighSurrogate(codeUnit) || isLowSurrogate(codeUnit) ? 6 : 3;
}

/** Removes as little of the text's end as needed to free `excess` bytes. It cuts between two code points. */
export function truncateText(text: string, excessBytes: number): string {
  let freed = 0;
  let end = text.length;
  while (end > 0 && freed < excessBytes) {
    const isPair =
      isLowSurrogate(text.charCodeAt(end - 1)) && end > 1 && isHighSurrogate(text.charCodeAt(end - 2));
    end -= isPair ? 2 : 1;
    freed += isPair ? 4 : jsonBytesOfCodeUnit(text.charCodeAt(end));
  }
  return text.slice(0, end);
}
