/** The parts of the page with text that is not saved yet. */
const unsaved = new Set<object>();

export const hasUnsaved = (): boolean => unsaved.size > 0;

/** Counts as unsaved until the returned function is called. */
export function markUnsaved(): () => void {
  const part = {};
  unsaved.add(part);
  return () => unsaved.delete(part);
}

/** The text that remains in the field after `sent` was saved: what was typed since. */
export const restOf = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text;
