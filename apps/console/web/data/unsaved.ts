/** Tracks the parts of the page that contain unsaved text. */
const unsaved = new Set<object>();

export const hasUnsaved = (): boolean => unsaved.size > 0;

/** Marks a part as unsaved until the returned function is called. */
export function markUnsaved(): () => void {
  const part = {};
  unsaved.add(part);
  return () => unsaved.delete(part);
}

/**
 * Makes the browser ask before the window is closed or reloaded with unsaved text. In specs, Node imports
 * this module and has no window.
 */
if ('addEventListener' in globalThis)
  globalThis.addEventListener('beforeunload', (event) => {
    if (hasUnsaved()) event.preventDefault();
  });
