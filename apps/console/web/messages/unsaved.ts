/** English texts about unsaved text, loaded with the pages that have it. */

export const draftTexts = {
  restored: (when: string) => `Draft restored. You last changed it ${when}.`,
  discard: 'Discard draft',
};
