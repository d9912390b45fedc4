/** A section of a text file between markers. Everything outside of the markers stays unchanged. */

export interface SectionMarkers {
  readonly start: string;
  readonly end: string;
}

export const markdownMarkers: SectionMarkers = {
  start: '<!-- muster:start -->',
  end: '<!-- muster:end -->',
};

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** Returns the start and the end of the section with its markers, or undefined if there is none. */
function findSection(
  text: string,
  markers: SectionMarkers,
): { readonly start: number; readonly end: number } | undefined {
  const start = text.indexOf(markers.start);
  const end = text.indexOf(markers.end, start);
  return start < 0 || end < 0 ? undefined : { start, end: end + markers.end.length };
}

/** Returns the section's text without its markers, or undefined if there is none. */
export function readSection(text: string, markers: SectionMarkers): string | undefined {
  const found = findSection(text, markers);
  return found === undefined
    ? undefined
    : text
        .slice(found.start + markers.start.length, found.end - markers.end.length)
        .replaceAll('\r\n', '\n')
        .trim();
}

/** Adds the section at the end of the text, or replaces it where it is. */
export function putSection(text: string, section: string, markers: SectionMarkers): string {
  const eol = eolOf(text);
  const body = `${markers.start}\n${section.trim()}\n${markers.end}`.replaceAll('\n', eol);
  const found = findSection(text, markers);
  if (found !== undefined) return text.slice(0, found.start) + body + text.slice(found.end);
  const before = text.trim() === '' ? '' : text.replace(/\s*$/, eol + eol);
  return `${before}${body}${eol}`;
}

/** Removes the section and its line end, and one of the empty lines around it. */
export function removeSection(text: string, markers: SectionMarkers): string {
  const found = findSection(text, markers);
  if (found === undefined) return text;
  const before = text.slice(0, found.start);
  const after = text.slice(found.end).replace(/^\r?\n/, '');
  const isLast = after.trim() === '';
  return (isLast ? before.replace(/(\r?\n)(\r?\n)+$/, '$1') : before) + (isLast ? '' : after);
}
