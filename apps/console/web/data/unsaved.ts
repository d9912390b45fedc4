/** Tracks the parts of the page that contain unsaved text. */
const unsavedParts = new Set<object>();

export const hasUnsavedText = (): boolean => unsavedParts.size > 0;

/** Marks a part as unsaved until the returned function is called. */
export function markUnsaved(): () => void {
  const part = {};
  unsavedParts.add(part);
  return () => unsavedParts.delete(part);
}

/**
 * Makes the browser ask before the window is closed or reloaded with unsaved text. In specs, Node imports
 * this module and has no window.
 */
if ('addEventListener' in globalThis)
  globalThis.addEventListener('beforeunload', (event) => {
    if (hasUnsavedText()) event.preventDefault();
  });
